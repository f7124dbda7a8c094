"""How earlier forecasts turned out: what lets a reader trust, or distrust, the next one."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from jpo.records import Interval, TrackRecord


def track_record(quantity: str, pairs: Iterable[tuple[Interval, float]]) -> TrackRecord | None:
    """Compare forecasts with what came: pairs of (forecast, measured value > 0). None without any pair."""
    known = list(pairs)
    if not known:
        return None
    errors = [abs(actual / forecast.mean - 1) for forecast, actual in known]
    inside = sum(forecast.low <= actual <= forecast.high for forecast, actual in known)
    return TrackRecord(quantity, len(known), median(errors), inside)
