"""The calibration watch: are the intervals as wide as the outcomes of this workload demand?

A belief that fits other jobs may be too sure of itself on this one. Its last forecasts, each made from the runs before it, say by
how much; forecasts and risks are then widened by that factor, and the reader is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.measurements import place
from jpo.forecast.predict import predict

if TYPE_CHECKING:
    from jpo.records import Belief, Candidates, Interval, Run

QUANTITIES = ("duration_seconds", "val_loss")
"""What is watched, by the names of Forecast. A cost is a duration times a price, and is as right as the duration."""
WATCHED = 20
"""Last forecasts that are watched."""
FEWEST = 5
"""Fewer say nothing: by chance alone one of four misses a 90% interval in a third of all cases."""
COVERAGE, LEAST_COVERAGE = 0.9, 0.8
"""What an interval promises, and below which share of outcomes inside it is not believed any more."""
WIDEST = 3.0
"""A larger factor would rest on one odd run, or on a job that no longer is the one that was watched."""
SEEN = 100
"""Runs from which a past forecast is made anew; older ones count less than a tenth."""


def widening(pairs: Iterable[tuple[Interval, float]]) -> float:
    """The factor by which intervals must be widened to hold what they promise, on a log scale around their middle.

    Args:
        pairs: (90% interval, measured value > 0) of the last forecasts, in any order; the intervals themselves not widened.

    Returns:
        1.0 while fewer than FEWEST are known or enough outcomes lie inside. Else the 90% quantile of the errors in multiples of
        the half-width: so much wider, the intervals would have held 90% of these outcomes.

    Source: split conformal prediction with normalised errors, Lei et al., "Distribution-Free Predictive Inference for
    Regression", JASA 2018, section 5.2.
    """
    errors = [_error(interval, measured) for interval, measured in pairs]
    if len(errors) < FEWEST or np.mean(np.array(errors) <= 1) >= LEAST_COVERAGE:
        return 1.0
    return float(np.clip(np.quantile(errors, COVERAGE), 1.0, WIDEST))


def _error(interval: Interval, measured: float) -> float:
    """Distance from the interval's middle in multiples of its half-width, all in logs: at most 1 means inside."""
    low, high = math.log(interval.low), math.log(interval.high)
    return abs(math.log(measured) - (low + high) / 2) / max((high - low) / 2, 1e-9)


def one_step_ahead(
    believe: Callable[[Sequence[Run]], Belief], candidates: Candidates, runs: Sequence[Run], *, last: int = WATCHED
) -> dict[str, list[tuple[Interval, float]]]:
    """What came of each of the last runs beside its forecast from the runs before it, oldest first, for each of QUANTITIES.

    Made anew rather than read from the store: what was told then may have been widened already, or come from another version.

    Args:
        believe: what is believed of the candidates after some runs.
        runs: of this workload. Those that did not end well, or ran what is no candidate, are left out.
        last: how many of them to look at.
    """
    ordered = sorted(runs, key=lambda run: (run.ended_at, run.run_id))
    pairs: dict[str, list[tuple[Interval, float]]] = {quantity: [] for quantity in QUANTITIES}
    for at in range(max(0, len(ordered) - last), len(ordered)):
        run = ordered[at]
        came = {quantity: getattr(run.outcome, quantity) for quantity in QUANTITIES}
        here = place(candidates, [run])
        if not (run.ended_well and here and any(came.values())):
            continue
        forecast = predict(believe(ordered[max(0, at - SEEN) : at]), here[0].row, usd_per_hour=None)
        for quantity, value in came.items():
            interval = getattr(forecast, quantity)
            if interval is not None and value is not None and value > 0:  # a run before it measured it
                pairs[quantity].append((interval, value))
    return pairs
