"""Text from files and programs, safe for terminals and CI logs: as jpo/wording/printable.py has it, which a test compares."""

from __future__ import annotations

import re

LONGEST_WORD, LONGEST_TEXT = 256, 4000
"""Characters; what is longer loses its middle."""
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]")
"""What Python calls printable and cannot be seen."""
MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Signs above and below a letter; more than three grow into other lines."""
COMMANDS = re.compile(r"#(?=#[\w.-]*\[)|(?:section_(?:start|end)|travis_(?:fold|time))(?=:)")
"""What CI systems obey anywhere in a line. At the beginning of one, where they obey ::error::, there are words of ours."""


def printable(text: str) -> str:
    """The text in one line: a blank for what does not print, and in the marks of commands to a CI."""
    seen = "".join(c if c.isprintable() else " " for c in _short(text, LONGEST_TEXT))
    seen = re.sub(f"([{MARKS}]{{3}})[{MARKS}]+", r"\1", UNSEEN.sub(" ", seen))
    return COMMANDS.sub(r"\g<0> ", re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: _short(word[0], LONGEST_WORD), seen))


def printable_json(text: str) -> str:
    """The same JSON, which is ASCII, with escapes in the marks of commands to a CI."""
    return COMMANDS.sub(lambda mark: f"{mark[0][:-1]}\\u{ord(mark[0][-1]):04x}", text)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest * 2 // 3]}…{text[-longest // 4 :]}"
