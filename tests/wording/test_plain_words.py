"""What JPO prints, and what its pages say, is in plain words: subject first, one fact a sentence, the field's word.

A sentence that reads as if it were translated is found by a few words that no engineer writes. Each has a plainer one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

EVERYWHERE = {
    r"beside": "next to, with",
    r"(?:go|goes|going|went) on(?! (?:record|the|a))": "continue, keep running",
    r"for ever": "without end",
    r"mend(?:ed|s)?": "fix",
    r"(?:stands?|stood|standing)": "is",
    r"(?:lies|lie|lay)": "is",
    r"whoever": "the process that, anyone who",
    r"of which": "a sentence of its own",
    r"lest": "so that ... not",
    r"as it were": "nothing",
    r"likes": "prefers",
    r"(?:is|are) told": "the subject that tells",
    r"come to be": "become",
    r"(?:what (?:it|they) )?may gain": "possible gain",
    r"of one's own": "your own",
}
"""Words that neither a printed sentence nor a page has, and what to write."""

PRINTED = {
    r"(?:holds?|held|holding)": "contains, uses, has",
    r"besides": "in addition to",
    r"(?:is|are|was) no(?! \w+(?: \w+)? (?:on record|known|yet))(?! longer)": "is not a",
}
"""Words that only printed sentences do not have: pages say that a claim holds."""

THERE_IS = re.compile(r"(?i)\b(?:there|here) (?:is|are|was) no\b|\bwhat is no\b")
CODE = re.compile(r"```.*?```|`[^`]*`|^    .*?$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|CREATE|ALTER|DELETE|PRAGMA|SET LOCAL)\b")

EXCEPTED = {
    "docs/benchmarks": "a log of measurements with their commits: what was written at the time stays",
}


def forbidden(text: str, words: dict[str, str]) -> list[str]:
    """Each forbidden word of a text, with the words around it and what to write."""
    text = THERE_IS.sub("", " ".join(text.split()))
    found = []
    for word, plainer in words.items():
        for match in re.finditer(rf"(?i)(?<![\w/.-]){word}(?![\w-])", text):
            around = text[max(0, match.start() - 40) : match.end() + 40]
            found.append(f"{match[0]!r} in {around!r}: write {plainer}")
    return found


def printed(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of every string with a space in it, but for docstrings and other strings that are statements."""
    statements = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    in_f_strings = {id(value) for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(value.value) if isinstance(value, ast.Constant) else "{}" for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements | in_f_strings:
            text = node.value
        else:
            continue
        if " " in text.strip() and not SQL.search(text):
            yield node.lineno, text


def test_every_printed_sentence_is_in_plain_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {finding}"
        for package in ("jpo", "constraints")
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in printed(ast.parse(path.read_text(encoding="utf-8")))
        for finding in forbidden(text, EVERYWHERE | PRINTED)
    ]
    assert not found, "\n".join(found)


PAGES = [*sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts), ROOT / "README.md"]


@pytest.mark.parametrize(
    "page", [p for p in PAGES if str(p.parent.relative_to(ROOT)) not in EXCEPTED], ids=lambda page: page.name
)
def test_every_page_is_in_plain_words(page: Path) -> None:
    found = forbidden(CODE.sub(" ", page.read_text(encoding="utf-8")), EVERYWHERE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "sentence",
    [
        "the same command goes on from there",
        "the policy likes nothing that may be tried",
        "3 runs, 2 of which did not end well",
        "'x' is no duration",
        "mend the job",
    ],
)
def test_a_translated_sentence_is_found(sentence: str) -> None:
    assert forbidden(sentence, EVERYWHERE | PRINTED)


@pytest.mark.parametrize("sentence", ["there is no run yet", "config.ini is no longer there", "Kept on record"])
def test_a_plain_sentence_is_not_found(sentence: str) -> None:
    assert not forbidden(sentence, EVERYWHERE | PRINTED)
