"""How earlier forecasts turned out: what lets a reader trust, or distrust, the next one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields
from statistics import NormalDist, median

from jpo.records import Forecast, Interval, Outcome, TrackRecord


def track_record(quantity: str, pairs: Iterable[tuple[Interval, float]]) -> TrackRecord | None:
    """Compare forecasts with what came: pairs of (forecast, measured value), both above 0. None without any pair."""
    known = [(forecast, actual) for forecast, actual in pairs if forecast.mean > 0 and actual > 0]
    if not known:
        return None
    errors = [abs(actual / forecast.mean - 1) for forecast, actual in known]
    inside = sum(forecast.low <= actual <= forecast.high for forecast, actual in known)
    return TrackRecord(quantity, len(known), median(errors), inside)


def inside(expected: Forecast, outcome: Outcome) -> dict[str, bool]:
    """By quantity whether what came is within the forecast's interval, where both are known."""
    pairs = {f.name: (getattr(expected, f.name), getattr(outcome, f.name)) for f in fields(Forecast)}
    return {name: bool(one.low <= actual <= one.high) for name, (one, actual) in pairs.items() if one and actual is not None}


def share_interval(hits: int, of: int, *, level: float = 0.9) -> Interval:
    """A share with the interval in which its true value lies with this confidence: few forecasts prove little.

    Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 1927 (score interval).

    Raises:
        ValueError: not 0 <= hits <= of, or nothing was counted.
    """
    if not 0 <= hits <= of or not of:
        raise ValueError(f"{hits} of {of} is no share")
    z, share = NormalDist().inv_cdf(0.5 + level / 2), hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))
