"""Printable text: what names from files, servers and users must not do to a terminal, a CI log or the reader.

`printable` is for a text from outside inside a line of ours: one line of characters that are seen, no command to a
CI, no longer than people read. `released` is for whole texts that leave the process: their lines stay, and none begins a command.
How Markdown, HTML, CSV and JSON make a text harmless besides is theirs to say (report/forms).
"""

import re

from jpo.wording.hidden import NO_SIGN, UNSEEN, hidden

LONGEST_WORD = 256
"""Characters without a blank: file names (255) stay whole; what is longer loses its middle."""
LONGEST_TEXT = 4000
"""Characters of a text within a line: fifty lines of a terminal."""
LONGEST_QUOTE = 300
"""Characters that are repeated of what a program or a server says."""
MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
"""Signs above, below and through a letter. No language has more than three on one; more grow into other lines."""

SIGNS = str.maketrans(
    {"→": "->", "≥": ">=", "≤": "<=", "–": "-", "×": "x", "±": "+-", "…": "...", **dict(zip("▁▂▃▄▅▆▇█", "_.,-=+*#", strict=True))}
)
"""Replacements for the signs of reports where they cannot be encoded."""

COMMANDS = re.compile(r"#(?=#[\w.-]*\[)|(?:section_(?:start|end)|travis_(?:fold|time))(?=:)")
"""What CI systems obey anywhere in a line: ##[error] (GitHub, Azure), ##vso[...], ##teamcity[...], section_start:... (GitLab).

Sources: actions/runner ActionCommand.cs; microsoft/azure-pipelines-agent Command.cs; GitLab "custom collapsible sections".
"""
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
UNSEEN_SIGN = re.compile(f"[{UNSEEN}]")
_PILED = re.compile(f"([{MARKS}]{{3}})[{MARKS}]+")
_COMMAND_LINE = re.compile(r"^((?:[^\S\n]|\x1b\[[0-9;]*m)*):(?=:)", re.MULTILINE)
"""::error file=...::, which GitHub obeys where a line begins with it, blanks or not; colours may be taken out on the way."""
_COLOUR = re.compile("(\x1b\\[[0-9;]*m)")


def printable(text: str, *, longest: int = LONGEST_TEXT) -> str:
    """Text from outside, for a line of ours: a blank for each character that is not seen; what is long loses its middle.

    Commands to CI systems get a blank into their marks: they are still read, and no longer obeyed.
    """
    if len(text) <= LONGEST_WORD:
        return disarmed(seen(text))
    short = _LONG_WORD.sub(lambda word: _without_middle(word[0], LONGEST_WORD), seen(_without_middle(text, longest)))
    return disarmed(short)


def one_line(*parts: str, longest: int = LONGEST_QUOTE, more: str = "...") -> str:
    """What somebody else says, each part once, in one line that is cut off at its end: "Unschedulable: 0/3 nodes"."""
    said = (" ".join(seen(part[: 4 * longest]).split()) for part in parts)
    line = ": ".join(dict.fromkeys(part for part in said if part))
    return line if len(line) <= longest else f"{line[:longest]}{more}"


def released(text: str, *, colours: bool = False) -> str:
    """A whole text as it may leave the process: lines stay lines, none of them steers who prints it, and secrets are hidden.

    The forms have made harmless what comes from outside; this holds for all text whoever wrote it, and sees lines as they were
    put together: a wrapped sentence may begin one with what stood in its middle. `colours`: leave the colours and weights of a
    terminal in it.
    """
    parts = _COLOUR.split(hidden(text)) if colours else [hidden(text)]
    whole = disarmed("".join(part if number % 2 else _lines_seen(part) for number, part in enumerate(parts)))
    return _COMMAND_LINE.sub(r"\1: ", whole) if "::" in whole else whole


def encodable(text: str, encoding: str) -> str:
    """The text in characters that an encoding has: plain signs for those of reports, a code for any other: r\\xe9sum\\xe9."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(SIGNS).encode(encoding, "backslashreplace").decode(encoding)
    return text


def seen(text: str) -> str:
    """A blank for each character that is not seen, or turns the direction of reading; no more than three marks on a letter."""
    if text.isascii() and text.isprintable():
        return text
    text = hidden(text) if NO_SIGN.search(text) else text  # before blanks tear what is secret in it
    shown = text if text.isprintable() else "".join(character if character.isprintable() else " " for character in text)
    return _PILED.sub(r"\1", UNSEEN_SIGN.sub(" ", shown))


def disarmed(text: str) -> str:
    """A blank in the mark of each command that CI systems obey wherever it stands."""
    return COMMANDS.sub(r"\g<0> ", text) if may_command(text) else text


def may_command(text: str) -> bool:
    """Whether it is worth looking for commands to a CI: an export has a hundred thousand lines without."""
    return "##" in text or "section_" in text or "travis_" in text


def _lines_seen(text: str) -> str:
    flat = text.replace("\n", "")
    return text if flat.isascii() and flat.isprintable() else "\n".join(map(seen, text.split("\n")))


def _without_middle(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest * 2 // 3]}…{text[-longest // 4 :]}"
