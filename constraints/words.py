"""Words: values of config.ini that are no numbers ("adam"), as numbers that rules can compare."""

from __future__ import annotations

import zlib

NUMBERS = 50_000
"""So few that two of them differ by more than what travels through texts is rounded by (a hundred-thousandth)."""


class Word(float):
    """A word as a number, which is the same wherever and whenever the word is read; it is written as the word."""

    __slots__ = ("word",)
    word: str

    def __new__(cls, word: str) -> Word:
        made = super().__new__(cls, 1 + zlib.crc32(word.encode()) % NUMBERS)
        made.word = word
        return made

    def __str__(self) -> str:
        return self.word

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # a word is made of its text
        return (self.word,)


def plain(value: float) -> float | str:
    """A value as JSON has it: a word as its text."""
    return value.word if isinstance(value, Word) else value
