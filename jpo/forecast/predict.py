"""Prediction of one next run from the belief: intervals for duration, cost and the quality by which runs are judged."""

import math
from statistics import NormalDist

import numpy as np

from jpo.forecast.discrepancy import LOSS, TIME_TAU, Discrepancy
from jpo.forecast.weights import quantiles
from jpo.records import CALIBRATED, Belief, Calibration, Floats, Forecast, Interval, Ints

_INFLATION = 1.2
"""Factor on all intervals: on recorded jobs the belief was slightly too sure of itself."""
_UNSEEN = 1.5
"""Factor on the discrepancy at a candidate that was never run, against those to which the particles were fitted. With 1.2 and
1.5, 90% intervals held 88 to 90% of durations on every other LCBench task, after 3 to 20 runs; with 1.1 and 1.0, 79 to 81%."""
_POOR_FIT_INFLATION = 0.2
"""Further widening, at most, when hardly any simulated job explains the runs (effective_share below `_FITS`)."""
_FITS = 0.01
NODES = np.array([NormalDist().inv_cdf((i + 0.5) / 9) for i in range(9)])
"""The middle of nine equally likely parts of the normal distribution: noise without a random number."""


def predict(
    belief: Belief, row: int, calibration: Calibration = CALIBRATED, *, usd_per_hour: float | None, coverage: float = 0.9
) -> Forecast:
    """The forecast of one next run at a candidate, given that it ends well, with 90% intervals.

    `calibration`: see calibration.py; `usd_per_hour`: price of this candidate, None when unknown; `coverage`: share of the
    outcomes that the intervals should hold, 0..1. Returns None for what no run supports: durations before the first run that
    ended well, cost without a price, loss before the first measured loss. The mean is the geometric mean, which a few extreme
    particles hardly change.
    """
    duration = cost = loss = None
    if belief.duration_seconds is not None:
        timed = belief.runs if belief.time_runs is None else belief.time_runs
        apart = Discrepancy(TIME_TAU, belief.noise)
        relative = _interval(belief, belief.log_time, timed, apart, row, calibration.interval_factor, coverage)
        duration = _scaled(relative, belief.duration_seconds)
        if usd_per_hour is not None:
            cost = _scaled(duration, usd_per_hour / 3600.0)
    if belief.val_loss is not None:
        runs = belief.runs if belief.loss_runs is None else belief.loss_runs
        apart = Discrepancy(LOSS.tau, belief.loss_noise)
        relative = _interval(belief, belief.log_loss, runs, apart, row, calibration.loss_interval_factor, coverage)
        loss = _scaled(relative, belief.val_loss)
    return belief.quality.forecast(Forecast(duration, cost), loss)


def _interval(
    belief: Belief, logs: Floats, measured: Ints, discrepancy: Discrepancy, row: int, interval_factor: float, coverage: float
) -> Interval:
    """The interval at a candidate in multiples of the level: spread of the particles relative to the candidates that were run,
    noise of one run and of the level, and the discrepancy where nothing was measured.

    Relative to today's configuration the spread of its own duration would vanish, even if it has never been run. `logs`: of the
    particles, (J, K); `measured`: how many runs measured it, (K,).
    """
    counts = measured if measured.any() else np.ones_like(measured)
    ran = np.flatnonzero(counts)
    level = logs[:, ran] @ (counts[ran] / counts.sum())  # (J,)
    centred = logs[:, row] - level + belief.weights @ level
    runs = measured[row] if measured[row] else counts.sum()
    sigma = math.hypot(discrepancy.noise * math.sqrt(1 + 1 / runs), 0.0 if measured[row] else _UNSEEN * discrepancy.tau)
    points = (centred[:, None] + sigma * NODES).ravel()  # (J * nodes,)
    weights, probabilities = np.repeat(belief.weights, len(NODES)), (0.5 - coverage / 2, 0.5, 0.5 + coverage / 2)
    low, middle, high = quantiles(points, weights, probabilities)
    factor = interval_factor * (_INFLATION + _POOR_FIT_INFLATION * max(0.0, 1 - belief.effective_share / _FITS))
    low, high = middle - factor * (middle - low), middle + factor * (high - middle)
    mean = min(max(float(belief.weights @ centred), low), high)
    return Interval(float(np.exp(mean)), float(np.exp(low)), float(np.exp(high)))


def _scaled(interval: Interval, factor: float) -> Interval:
    return Interval(interval.mean * factor, interval.low * factor, interval.high * factor)
