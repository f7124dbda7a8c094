"""Validation loss at every candidate: hardware alone trains the same model, and the learning curve says what a change can do.

The misfit of simulated jobs is one of progress, in ln of epochs; a loss that hardly falls any more hardly shows it.
"""

import math
from collections.abc import Sequence

import numpy as np

from jpo.forecast.discrepancy import LOSS, Discrepancy, student_t
from jpo.forecast.evidence.duration import noise_of
from jpo.forecast.evidence.groups import Groups, MeasuredQuantity, groups_without
from jpo.forecast.evidence.work import Work
from jpo.forecast.measurements import FAR, CandidateRun, measurements_of, within_reach
from jpo.records import RESOURCES, Candidates, Draws, Floats

_PROGRESS_TAU = 0.2
"""sd of ln epochs for the same progress between a job and its best particle. On LCBench's recorded losses of a batch doubled
twice, after two runs, .65, .2 and .08 had mean errors of .061, .054 and .053 and log scores of .445, .435 and .433."""
_AT_TARGET = 0.15
"""LOSS.noise of runs that end at their target: each has done what was asked, and a target of another metric, as of accuracy, is
reached by chance an epoch sooner or later."""


def measured_losses(
    candidates: Candidates, succeeded: Sequence[CandidateRun], slope: float | None, work: Work
) -> MeasuredQuantity:
    """What the runs that ended well say of losses, at groups of candidates that train the same model.

    `slope`: d ln loss / d ln epochs of their learning curves; None = not measured. The usual noise counts one degree of freedom:
    jobs differ more in it than in that of durations, and repeats soon say it.
    """
    groups = groups_without(candidates, RESOURCES)
    usual = _AT_TARGET if work is Work.TO_TARGET else LOSS.noise
    if not groups.single and _differ(succeeded, groups, noise_of(succeeded, _loss, usual, freedom=1)):
        groups = groups_without(candidates, ())
    noise = noise_of(groups.runs(succeeded), _loss, usual, freedom=1)
    tau = LOSS.tau if slope is None else min(_PROGRESS_TAU * abs(slope), LOSS.tau)
    return MeasuredQuantity(groups, measurements_of(groups.runs(succeeded), _loss), Discrepancy(tau, noise))


def _loss(run: CandidateRun) -> float | None:
    return run.outcome.val_loss


def _differ(succeeded: Sequence[CandidateRun], groups: Groups, noise: float) -> bool:
    """Whether hardware makes another model, as where the batch size is one of each GPU, by the mean losses within a group."""
    each = measurements_of(succeeded, _loss)
    within = groups.of[each.rows]
    several, sizes = np.unique(within, return_counts=True)
    for group in several[sizes > 1]:  # thousands may have one configuration each
        them = within == group
        mean, count = each.mean[them], each.count[them]
        spread = np.abs(mean[:, None] - mean) / np.sqrt(1 / count[:, None] + 1 / count)
        if spread.max() > FAR * noise:
            return True
    return False


_MISFIT, _RELATIVE_MISFIT = 0.05, 0.3
"""sd of a measured slope around that of the best simulated job: a rate that decays, another law; and in multiples of the slope,
because a run at another configuration is not as far. What rises by more overfits: no simulated job does.
Assumed; .1 and 50% gave equal errors on LCBench, within 2%."""


def slope_log_likelihood(draws: Draws, measured: tuple[float, float] | None) -> Floats:
    """Log-likelihood of the slopes of the runs' learning curves under each simulated job, shape (J,), up to a constant.

    Where a loss hardly falls any more, a configuration that learns a little less per epoch costs next to nothing; where it still
    falls steeply, it costs a lot. Simulated jobs are of both sorts, and the curve of a single run tells them apart.
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
