"""Words: values of config.ini that are no numbers ("adam"), where JPO computes with numbers."""

import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

NUMBERS = 50_000
"""So few that two of them differ by more than SAME; the choices of one parameter are refused where two have the same."""


class Word(float):
    """Word as a number: the same number wherever the word is read, so that runs, suggestions and candidates agree on it.

    Only people and documents see the word: `str`, f-strings and canonical JSON write it. Arithmetic with it makes no sense, and
    its order means nothing. The guard has its own (constraints/words.py), with the same numbers.
    """

    __slots__ = ("word",)
    word: str

    def __new__(cls, word: str) -> "Word":
        made = super().__new__(cls, 1 + zlib.crc32(word.encode()) % NUMBERS)
        made.word = word
        return made

    def __str__(self) -> str:
        return self.word

    __repr__ = __str__

    def __format__(self, form: str) -> str:
        """The word, in the width of a number's form if it has one."""
        return format(self.word, form.rstrip("gfe").split(".")[0])

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # a word is made of its text
        return (self.word,)


def plain(value: float) -> float | str:
    """A value as documents have it: a word as its text."""
    return value.word if isinstance(value, Word) else value


def plain_values(values: Mapping[str, float]) -> dict[str, float | str]:
    """The values of a configuration as documents have them."""
    return {name: plain(value) for name, value in values.items()}


def value_of(document: float | str) -> float:
    """The value that a document has: `plain` the other way round."""
    return Word(document) if isinstance(document, str) else document


def as_document(value: Any) -> Any:
    """A record, and those in it, by the names of their fields: as dataclasses.asdict, without a copy of each number and text."""
    if type(value) in (str, float, int, type(None)):
        return value
    if is_dataclass(value):
        return {f.name: as_document(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {name: as_document(each) for name, each in value.items()}
    return tuple(map(as_document, value)) if isinstance(value, tuple) else value
