"""The SLA: what a run has promised, held against what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jpo.records import Forecast, Interval, SlaCheck

FORECAST_OF = {"time_max": "duration_seconds", "cost_max": "cost_usd", "val_loss_max": "val_loss"}
"""Which forecast a promise is held against; for the other promises nothing is forecast yet."""


def check_sla(promises: Mapping[str, float], expected: Forecast) -> tuple[SlaCheck, ...]:
    """Each promise of [sla] with its verdict; "unknown" where nothing supports a forecast."""
    return tuple(SlaCheck(name, limit, _verdict(limit, _interval(name, expected))) for name, limit in promises.items())


def _interval(name: str, expected: Forecast) -> Interval | None:
    return getattr(expected, FORECAST_OF[name]) if name in FORECAST_OF else None


def _verdict(limit: float, expected: Interval | None) -> Literal["ok", "at risk", "broken", "unknown"]:
    if expected is None:
        return "unknown"
    if expected.mean > limit:
        return "broken"
    return "at risk" if expected.high > limit else "ok"
