"""The track record of earlier forecasts: what lets a reader trust, or distrust, the next one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist, median

from jpo.records import Forecast, Interval, Outcome, TrackRecord


def track_record(quantity: str, pairs: Iterable[tuple[Interval, float]]) -> TrackRecord | None:
    """The track record of pairs (forecast, measured value); only pairs above 0 count. None without any."""
    pairs_above_zero = [(forecast, actual) for forecast, actual in pairs if forecast.mean > 0 and actual > 0]
    if not pairs_above_zero:
        return None
    errors = [abs(actual / forecast.mean - 1) for forecast, actual in pairs_above_zero]
    inside = sum(forecast.low <= actual <= forecast.high for forecast, actual in pairs_above_zero)
    return TrackRecord(quantity, len(pairs_above_zero), median(errors), inside)


def share_interval(hits: int, of: int, *, level: float = 0.9) -> Interval:
    """A share with its confidence interval, which is wide for few cases.

    Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 1927 (score interval).

    Raises:
        ValueError: not 0 <= hits <= of, or `of` is 0.
    """
    if not 0 <= hits <= of or not of:
        raise ValueError(f"{hits} of {of} is no share")
    z, share = NormalDist().inv_cdf(0.5 + level / 2), hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return Interval(share, max(0.0, middle - half), min(1.0, middle + half))


def inside(expected: Forecast, outcome: Outcome) -> dict[str, bool]:
    """By quantity whether an outcome is within its forecast's interval, where both are known."""
    pairs = {name: (interval, outcome.of(name)) for name, interval in expected.known.items()}
    return {
        name: bool(interval.low <= actual <= interval.high) for name, (interval, actual) in pairs.items() if actual is not None
    }
