"""JSON for people and programs, in the one form of all published documents; a subject's `as_json(x)` says what is in it.

Data stay exact: what a terminal or a CI would obey, and what nobody sees, is written as escapes, which read back the same.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from jpo.records import plain
from jpo.wording.printable import COMMANDS, UNSEEN_SIGN, may_command


def dumps(document: Mapping[str, object]) -> str:
    """Indented JSON with a line feed at its end; letters of all languages as they are, not as \\u escapes.

    Raises ValueError: a number is not finite, which JSON cannot say; names its place.
    """
    _require_finite(document)
    return harmless(json.dumps(_in_words(document), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def line(document: Mapping[str, object]) -> str:
    """One line of JSON Lines, keys sorted, in ASCII. Raises ValueError: a number is not finite."""
    try:
        return harmless(json.dumps(_in_words(document), sort_keys=True, allow_nan=False)) + "\n"
    except ValueError:  # asked only then: a log has a hundred thousand lines
        _require_finite(document)
        raise


def in_encoding(text: str, encoding: str) -> str:
    """The same JSON in characters that an encoding has; escapes for others, which read back the same."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(each if each.isascii() else _code(each) for each in text)
    return text


def _in_words(document: object) -> object:
    """The same with words as texts, never as their numbers."""
    if isinstance(document, Mapping):
        return {name: _in_words(inner) for name, inner in document.items()}
    if isinstance(document, list | tuple):
        return [_in_words(inner) for inner in document]
    return plain(document) if isinstance(document, float) else document


def harmless(text: str) -> str:
    """The same JSON with escapes for what is not seen, and in what CI systems obey anywhere in a line."""
    if not (text.isascii() and "\x7f" not in text):  # below U+0020 json has escaped everything
        text = "".join(c if c.isprintable() or c == "\n" else _code(c) for c in text)
        text = UNSEEN_SIGN.sub(lambda unseen: _code(unseen[0]), text)
    return COMMANDS.sub(lambda mark: mark[0][:-1] + _code(mark[0][-1]), text) if may_command(text) else text


def _code(character: str) -> str:
    """A character as JSON's escape, two of them beyond U+FFFF."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _require_finite(document: object) -> None:
    for place, number in _numbers(document, ""):
        if not math.isfinite(number):
            raise ValueError(f"{place} is {number}, which JSON cannot say; None is what is unknown")


def _numbers(value: object, place: str) -> Iterator[tuple[str, float]]:
    """Every number that could be infinite or NaN, with its place: runs[0].cost_usd."""
    if isinstance(value, float):
        yield place, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _numbers(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for number, inner in enumerate(value):
            yield from _numbers(inner, f"{place}[{number}]")
