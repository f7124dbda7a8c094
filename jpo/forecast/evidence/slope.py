"""The slope of the runs' own learning curves as evidence of what a batch size or learning rate does to the loss.

Where a loss hardly falls any more, a configuration that learns a little less per epoch costs next to nothing; where it still
falls steeply, it costs a lot. Simulated jobs are of both sorts, and the curve of a single run tells them apart.
"""

import math
from collections.abc import Sequence

import numpy as np

from jpo.forecast.discrepancy import student_t
from jpo.forecast.evidence.work import Work
from jpo.forecast.measurements import CandidateRun, within_reach
from jpo.records import Draws, Floats

_MISFIT, _RELATIVE_MISFIT = 0.05, 0.3
"""sd of a measured slope around that of the best simulated job: a rate that decays, another law; and in multiples of the slope,
because a run at another configuration is not as far. What rises by more overfits: no simulated job does.
Assumed; .1 and 50% gave equal errors on LCBench, within 2%."""


def slope_log_likelihood(draws: Draws, measured: tuple[float, float] | None) -> Floats:
    """Log-likelihood of the runs' slopes under each simulated job, shape (J,), up to a constant.

    Jobs without a simulated slope are as likely as all others together; zeros where no run measured one, or has a target.
    """
    if measured is None or draws.loss_slope is None or not (known := np.isfinite(draws.loss_slope)).any():
        return np.zeros(len(draws.fails))
    slope, error = measured
    simulated = draws.loss_slope[known]
    variance = _MISFIT**2 + (_RELATIVE_MISFIT * simulated) ** 2 + error**2
    fits = student_t((slope - simulated)[:, None], variance[:, None]) - np.log(variance) / 2
    likely = np.full(len(known), float(np.logaddexp.reduce(fits)) - math.log(len(fits)))
    likely[known] = fits
    return likely


def slope_of(succeeded: Sequence[CandidateRun], work: Work) -> tuple[float, float] | None:
    """Mean slope of the runs' learning curves and its standard error; runs are weighed by age and precision.

    None where none was measured, or runs end at a target.
    """
    slopes, errors, counts = [], [], []
    for run in succeeded:
        slope, error = run.outcome.loss_slope, run.outcome.loss_slope_error or 0.0
        if slope is not None and slope <= _MISFIT + 2 * error:
            slopes.append(slope)
            errors.append(error)
            counts.append(run.count)
    if not slopes or work is Work.TO_TARGET:
        return None
    weights = np.array(counts) / (_MISFIT**2 + np.array(errors) ** 2)
    weights /= weights.sum()
    return float(weights @ within_reach(slopes)), float(np.sqrt(weights**2 @ np.array(errors) ** 2))
