"""What the belief says about one next run: intervals for duration, cost and loss."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.discrepancy import LOSS, TIME_TAU, Discrepancy
from jpo.records import Belief, Forecast, Interval

if TYPE_CHECKING:
    from jpo.records import Floats, Ints

_INFLATION = 1.2
"""Intervals are widened by this: on recorded jobs the belief was slightly too sure of itself."""
_UNSEEN = 1.5
"""At a candidate that was never run the misfit is so much larger than where the particles were fitted. With 1.2 and 1.5, 90%
intervals held 88 to 90% of the durations of every other LCBench task, after 3 to 20 runs; with 1.1 and 1.0, 79 to 81%."""
_MISFIT_INFLATION = 0.2
"""Widened by up to this share more when hardly any simulated job explains the runs (effective_share below `_FITS`)."""
_FITS = 0.01
_NODES = np.array([NormalDist().inv_cdf((i + 0.5) / 9) for i in range(9)])
"""The middle of nine equally likely parts of the normal distribution: noise without a random number."""


def predict(
    belief: Belief,
    row: int,
    *,
    usd_per_hour: float | None,
    interval_factor: float = 1.0,
    loss_interval_factor: float = 1.0,
    coverage: float = 0.9,
) -> Forecast:
    """Forecast one next run at a candidate, given that it ends well, with intervals (of 90%).

    Args:
        usd_per_hour: price of this candidate, None when unknown.
        widen, widen_loss: the calibration watch's factors for durations (and costs) and for losses, at least 1: the bounds lie so
            much further from the middle, on a log scale.
        coverage: share of the outcomes that the intervals should hold, 0..1.

    Returns:
        None for what no run supports: durations before the first run that ended well, cost without a price, loss before the first
        measured loss. The mean is the geometric one, which a few extreme particles do not move.
    """
    duration = cost = loss = None
    if belief.duration_seconds is not None:
        discrepancy = Discrepancy(TIME_TAU, belief.noise)
        duration = _interval(
            belief, belief.log_time, belief.runs, row, belief.duration_seconds, discrepancy, interval_factor, coverage
        )
        if usd_per_hour is not None:
            cost = _scaled(duration, usd_per_hour / 3600.0)
    if belief.val_loss is not None:
        runs = belief.runs if belief.loss_runs is None else belief.loss_runs
        loss = _interval(belief, belief.log_loss, runs, row, belief.val_loss, LOSS, loss_interval_factor, coverage)
    return Forecast(duration, cost, loss)


def _interval(
    belief: Belief,
    logs: Floats,
    measured: Ints,
    row: int,
    level: float,
    discrepancy: Discrepancy,
    interval_factor: float,
    coverage: float,
) -> Interval:
    """Spread over the particles as seen from the candidates that were run, plus the noise of one run and of what is known so far,
    plus the misfit where nothing was measured: there nobody knows it.

    Seen from today's configuration the spread of its own duration would vanish, even if it has never been run.
    """
    counts = measured if measured.any() else np.ones_like(measured)
    seen = logs @ (counts / counts.sum())  # (J,)
    centred = logs[:, row] - seen + belief.weights @ seen
    runs = measured[row] if measured[row] else counts.sum()
    sigma = math.hypot(discrepancy.noise * math.sqrt(1 + 1 / runs), 0.0 if measured[row] else _UNSEEN * discrepancy.tau)
    points = (centred[:, None] + sigma * _NODES).ravel()  # (J * nodes,)
    low, middle, high = _weighted_quantiles(
        points, np.repeat(belief.weights, len(_NODES)), (0.5 - coverage / 2, 0.5, 0.5 + coverage / 2)
    )
    factor = interval_factor * (_INFLATION + _MISFIT_INFLATION * max(0.0, 1 - belief.effective_share / _FITS))
    low, high = middle - factor * (middle - low), middle + factor * (high - middle)
    mean = min(max(float(belief.weights @ centred), low), high)
    return _scaled(Interval(float(np.exp(mean)), float(np.exp(low)), float(np.exp(high))), level)


def _weighted_quantiles(points: Floats, weights: Floats, probabilities: tuple[float, ...]) -> tuple[float, ...]:
    """The smallest points at which the cumulated weight reaches each probability."""
    order = np.argsort(points)
    cumulated = np.cumsum(weights[order])
    at = np.minimum(np.searchsorted(cumulated, np.array(probabilities) * cumulated[-1]), len(points) - 1)
    return tuple(float(points[order[i]]) for i in at)


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(interval.mean * factor, interval.low * factor, interval.high * factor)
