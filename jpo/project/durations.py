"""Durations as jpo.toml and the command line may write them, and settings that may be one."""

import math
from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from constraints.amounts import duration
from jpo.errors import quoted


def seconds(text: object) -> float:
    """'90d', '6h', '1h 30m', '90 min', '10s' or a plain number of seconds -> seconds."""
    found = None if isinstance(text, bool) else duration(text)
    if found is None:
        raise ValueError(f"{quoted(text)} is not a duration; write e.g. '10s', '5m', '1.5h', '1h 30m' or '90d'")
    return found


def seconds_or_nan(text: object) -> float:
    """The seconds of a duration; NaN where it is none."""
    try:
        return seconds(text)
    except ValueError:
        return math.nan


def reset_rule(given: object) -> object:
    """evidence, broken-sla, or a duration above 0, in one message for all."""
    if given in ("evidence", "broken-sla"):
        return given
    if (every := seconds_or_nan(given)) > 0:
        return every
    raise ValueError(f"{quoted(given)} is neither evidence nor broken-sla nor a duration above 0; write e.g. '30d'")


UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
MOST_EXACT = 2.0**53


def as_people_write(given: float | str) -> float | str:
    """90 days -> '90d', 5400 s -> '1h 30m'; a word, and what is no whole number of seconds, stay as they are."""
    if isinstance(given, str) or not given.is_integer() or given > MOST_EXACT:
        return given
    parts, left = [], int(given)
    for unit, size in UNITS.items():
        number, left = divmod(left, size)
        parts += [f"{number}{unit}"] if number else []
    return " ".join(parts) or "0s"


Duration = Annotated[
    float,
    BeforeValidator(seconds),
    PlainSerializer(as_people_write, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^ *([0-9.]+ *[a-zA-Z]* *)+$"}]}),
]
ResetRule = Annotated[
    Literal["evidence", "broken-sla"] | float,
    BeforeValidator(reset_rule),
    PlainSerializer(as_people_write, when_used="json"),
    WithJsonSchema({"type": ["number", "string"]}),
]
