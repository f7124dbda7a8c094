"""Units: numbers, moments, shares and sizes as people and tools write them -> JPO's units."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Literal

from jpo.errors import quoted
from jpo.files.reading import LONGEST_NUMBER, number, number_or_nan
from jpo.tables import units

Kind = Literal["text", "truth", "number", "duration", "moment", "size", "share", "accuracy", "energy", "money"]
DEFAULT_UNIT = {"duration": "s", "share": "ratio", "size": "GiB", "energy": "J", "money": "USD", "moment": "s"}
UNITS: Mapping[str, Mapping[str, float]] = {
    "size": {name: units.UNITS[name].size / 2**30 for name in ("B", "KiB", "KB", "MiB", "MB", "GiB", "GB")},
    "moment": {**{name: units.UNITS[name].size for name in ("s", "ms", "us")}, "ISO 8601": math.nan},
    **{
        kind: {name: units.UNITS[name].size for name in names}
        for kind, names in {
            "duration": ("s", "ms", "min", "h", "d"),
            "share": ("ratio", "percent"),
            "accuracy": ("ratio", "percent"),
            "energy": ("J", "kJ", "Wh", "kWh"),
            "money": ("USD",),
        }.items()
    },
}
"""What one of a unit is in that of a run: seconds, GiB, ratio, joules, USD, unix seconds."""
SPELT = {word: name for name in dict.fromkeys(chain(*UNITS.values())) if name in units.UNITS for word in units.UNITS[name].spelt}
"""How people write them, in lower case."""
BYTES = 2.0**20
"""A size of this many GiB is one in bytes."""
FULL = 1.5
"""A share above it is a percentage; a little more than 1 is a burst."""
WITH_UNIT = re.compile(r"([-+.0-9eE]*[0-9.])\s*([a-zA-Z%]+)")
"""A cell with a unit of its own, which counts more than the column's: 16Gi, 55%, 10 min."""
CLOCK = re.compile(r"(?:([0-9]+) days?,? )?([0-9]+):([0-5][0-9]):([0-5][0-9](?:\.[0-9]+)?)", re.ASCII)
"""A duration as clocks and pandas write it: 1:30:00, 0 days 01:30:00.5. Of two numbers (1:30) nobody knows what they are."""
SPELT_OUT = re.compile(r"(?:[0-9.]+\s*[a-z]+[\s,]*){2,}", re.ASCII | re.IGNORECASE)
"""1h 30m, 2 days 3 hours."""
TRUTH = {"true": 1.0, "1": 1.0, "1.0": 1.0, "yes": 1.0, "false": 0.0, "0": 0.0, "0.0": 0.0, "no": 0.0}


def unit_by_values(kind: Kind, cells: Sequence[str]) -> str | None:
    """The unit which the values of a column suggest where its name has none; None for what has no unit.

    Raises ValueError: accuracies that may be ratios or percentages; the finding in words.
    """
    if kind == "accuracy":
        return _unit_of_accuracies([value for cell in cells if math.isfinite(value := _or_nan(cell))])
    if kind not in DEFAULT_UNIT:
        return None
    if kind == "moment" and 2 * sum(_is_number(cell) for cell in cells) < len(cells):  # what most are: the others are wrong
        return "ISO 8601"
    largest = max((abs(value) for cell in cells if math.isfinite(value := _or_nan(cell))), default=0.0)
    if kind == "moment":
        return next((name for name in ("us", "ms") if largest >= units.UNITS[name].since_1970), "s")
    if kind == "size":
        return "B" if largest >= BYTES else "GiB"
    if kind == "share":
        return "percent" if largest > FULL else "ratio"
    return DEFAULT_UNIT[kind]


def _unit_of_accuracies(values: Sequence[float]) -> str:
    """No mixture is guessed at: 0.93 among 91 and 92 is an exporter's mistake, or a model that learnt nothing."""
    least, most = min(values, default=0.0), max(values, default=0.0)
    if least >= 0 and most <= 1:
        return "ratio"
    if least > 1 and most <= 100:
        return "percent"
    raise ValueError(f"contains {least:g} and {most:g}: neither all in 0..1, nor all percentages above 1")


def value_of(kind: Kind, unit: str | None, text: str) -> float:
    """A cell in JPO's unit. Raises ValueError: it is none of this kind; the finding in words."""
    if kind == "truth":
        if text.lower() not in TRUTH:
            raise ValueError(f"{quoted(text)} is neither true nor false")
        return TRUTH[text.lower()]
    if kind == "moment" and unit == "ISO 8601":
        return _moment(text)
    if kind == "duration" and len(text) <= LONGEST_NUMBER and (seconds := _in_parts(text)) is not None:
        return seconds
    with_unit = WITH_UNIT.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    own = SPELT.get(with_unit[2].lower()) if with_unit else None
    shown, unit = (with_unit[1], own) if with_unit and own in UNITS.get(kind, {}) else (text, unit)
    try:
        value = number(shown.removeprefix("$") if kind == "money" else shown)
    except ValueError as error:
        raise ValueError(f"{quoted(text)} is not a number") from error
    return value * UNITS[kind][unit] if unit else value


def _in_parts(text: str) -> float | None:
    """Seconds of a duration that is written in several units; None for any other text."""
    if clock := CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if not SPELT_OUT.fullmatch(text):
        return None
    parts = [(SPELT.get(unit.lower()), amount) for amount, unit in re.findall(r"([0-9.]+)\s*([a-zA-Z]+)", text)]
    if not all(unit in UNITS["duration"] and _is_number(amount) for unit, amount in parts):
        return None
    return math.fsum(number(amount) * UNITS["duration"][unit] for unit, amount in parts if unit)


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{quoted(text)} is not a moment such as 2026-11-22T06:00:00Z") from error


def _or_nan(text: str) -> float:
    return number_or_nan(text.removesuffix("%").strip())


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True
