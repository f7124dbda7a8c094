"""Calibration: the factor by which intervals must be widened so that they hold the outcomes of this workload.

A belief that fits other jobs may be too sure of itself on this one. Its last forecasts, each made from the runs before it, say by
how much. Forecasts and risks are then widened by that factor, and reports say so.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median

import numpy as np

from jpo.forecast.measurements import runs_at_candidates
from jpo.forecast.predict import predict
from jpo.records import Belief, Candidates, Forecast, Interval, Outcome, Run, TrackRecord

QUANTITIES = ("duration_seconds", "val_loss")
"""Quantities that are watched, by the names of Forecast. A cost is a duration times a price, and as accurate as the duration."""
WATCHED = 20
"""Number of the last forecasts that are watched."""
FEWEST = 5
"""Fewer forecasts say nothing: by chance alone one of four misses a 90% interval in a third of all cases."""
COVERAGE, LEAST_COVERAGE = 0.9, 0.8
"""Nominal share of outcomes inside the intervals, and the share below which they are no longer trusted."""
WIDEST = 3.0
"""A larger factor would come from one odd run, or from a job that has become another one."""
RUNS_REMEMBERED = 100
"""Newest runs that are looked at where it is costly, as where past forecasts are recomputed; older ones count less than a
tenth."""


def interval_factor(pairs: Iterable[tuple[Interval, float]]) -> float:
    """The factor by which intervals must be widened to reach their nominal coverage, on a log scale around their middle.

    `pairs`: (90% interval, measured value > 0) of the last forecasts, in any order; the intervals are not yet widened. Returns
    1.0 with fewer than FEWEST forecasts, or while enough outcomes lie inside. Else the 90% quantile of the errors in multiples
    of the half-width: intervals wider by this factor would have held 90% of these outcomes.

    Source: split conformal prediction, Lei et al., "Distribution-Free Predictive Inference for Regression", JASA 2018, 5.2.
    """
    errors = [_error(interval, measured) for interval, measured in pairs]
    if len(errors) < FEWEST or np.mean(np.array(errors) <= 1) >= LEAST_COVERAGE:
        return 1.0
    return float(np.clip(np.quantile(errors, COVERAGE), 1.0, WIDEST))


def _error(interval: Interval, measured: float) -> float:
    """Distance from the interval's middle in multiples of its half-width, all in logs: at most 1 means inside."""
    low, high = math.log(interval.low), math.log(interval.high)
    return abs(math.log(measured) - (low + high) / 2) / max((high - low) / 2, 1e-9)


def one_step_forecasts(
    believe: Callable[[Sequence[Run]], Belief],
    candidates: Candidates,
    runs: Sequence[Run],
    *,
    last: int = WATCHED,
    watch: Callable[[Sequence[Run], Belief, int, Run], object] | None = None,
) -> dict[str, list[tuple[Interval, float]]]:
    """One-step-ahead forecasts of the last runs, each from the runs before it, with their outcomes, for each of QUANTITIES.

    They are recomputed, not read from the store: stored forecasts may have been widened already, or come from another version.

    Args:
        believe: the belief about the candidates after some runs.
        runs: of this workload. Those that did not end well, or whose configuration is no candidate, are left out.
        last: number of runs to forecast.
        watch: is shown the runs before, the belief after them, the row that ran next, and that run.

    Returns pairs of forecast and measured value, oldest first.
    """
    ordered = sorted(runs, key=lambda run: (run.ended_at, run.run_id))
    pairs: dict[str, list[tuple[Interval, float]]] = {quantity: [] for quantity in QUANTITIES}
    for at in range(max(0, len(ordered) - last), len(ordered)):
        run = ordered[at]
        outcomes = {quantity: getattr(run.outcome, quantity) for quantity in QUANTITIES}
        candidate_runs = runs_at_candidates(candidates, [run])
        if not (run.ended_well and candidate_runs and any(outcomes.values())):
            continue
        earlier, row = ordered[max(0, at - RUNS_REMEMBERED) : at], candidate_runs[0].row
        belief = believe(earlier)
        if watch:
            watch(earlier, belief, row, run)
        forecast = predict(belief, row, usd_per_hour=None)
        for quantity, value in outcomes.items():
            interval = getattr(forecast, quantity)
            if interval is not None and value is not None and value > 0:  # a run before it measured it
                pairs[quantity].append((interval, value))
    return pairs


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
