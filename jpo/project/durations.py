"""Durations as jpo.toml and the command line may write them, and settings that may be one."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: object) -> float:
    """'90d', '6h', '5m', '10s' or a plain number of seconds -> seconds."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)\s*", str(text))
    if not match or isinstance(text, bool):
        raise ValueError(f"{text!r:.80} is not a duration; write e.g. '10s', '5m', '6h' or '90d'")
    return float(match[1]) * SECONDS[match[2] or "s"]


def reset_rule(given: object) -> object:
    """evidence, broken-sla, or a duration above 0, in one message for all."""
    if given in ("evidence", "broken-sla"):
        return given
    try:
        if (every := seconds(given)) > 0:
            return every
    except ValueError:
        pass
    raise ValueError(f"{given!r} is neither evidence nor broken-sla nor a duration above 0; write e.g. '30d'")


Duration = Annotated[
    float,
    BeforeValidator(seconds),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9.]+ *[smhd]?$"}]}),
]
ResetRule = Annotated[
    Literal["evidence", "broken-sla"] | float, BeforeValidator(reset_rule), WithJsonSchema({"type": ["number", "string"]})
]
