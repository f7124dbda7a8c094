"""JSON for people and programs, in the one form of all published documents; a subject's `as_json(x)` says what is in it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence


def dumps(document: Mapping[str, object]) -> str:
    """Indented JSON with a line feed at its end; names from elsewhere as they are, not as \\u escapes.

    Raises:
        ValueError: a number is not finite, which JSON cannot say; names its place.
    """
    _require_finite(document)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def line(document: Mapping[str, object]) -> str:
    """One line of JSON Lines, keys sorted, in ASCII.

    Raises:
        ValueError: a number is not finite.
    """
    try:
        return json.dumps(document, sort_keys=True, allow_nan=False) + "\n"
    except ValueError:  # asked only then: a log has a hundred thousand lines
        _require_finite(document)
        raise


def value(setting: object) -> str:
    """One value in one line, as `jpo config show` writes it behind its key."""
    return json.dumps(setting, allow_nan=False)


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
