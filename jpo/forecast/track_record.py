"""The track record of earlier forecasts: what lets a reader trust, or distrust, the next one."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from jpo.records import Forecast, Interval, Outcome, TrackRecord


def track_record(quantity: str, pairs: Iterable[tuple[Interval, float]]) -> TrackRecord | None:
    """The track record of pairs (forecast, measured value); only pairs above 0 count. None without any."""
    pairs_above_zero = [(forecast, actual) for forecast, actual in pairs if forecast.mean > 0 and actual > 0]
    if not pairs_above_zero:
        return None
    errors = [abs(actual / forecast.mean - 1) for forecast, actual in pairs_above_zero]
    inside = sum(forecast.low <= actual <= forecast.high for forecast, actual in pairs_above_zero)
    return TrackRecord(quantity, len(pairs_above_zero), median(errors), inside)


def inside(expected: Forecast, outcome: Outcome) -> dict[str, bool]:
    """By quantity whether an outcome is within its forecast's interval, where both are known."""
    pairs = {name: (interval, outcome.of(name)) for name, interval in expected.known.items()}
    return {
        name: bool(interval.low <= actual <= interval.high) for name, (interval, actual) in pairs.items() if actual is not None
    }
