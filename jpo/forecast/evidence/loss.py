"""Validation loss at every candidate: hardware alone trains the same model, and the learning curve says what a change can do.

The misfit of simulated jobs is one of progress, in ln of epochs; a loss that hardly falls any more hardly shows it.
"""

from collections.abc import Sequence

import numpy as np

from jpo.forecast.discrepancy import LOSS, Discrepancy
from jpo.forecast.evidence.duration import noise_of
from jpo.forecast.evidence.groups import Groups, MeasuredQuantity, groups_without
from jpo.forecast.evidence.work import Work
from jpo.forecast.measurements import FAR, CandidateRun, measurements_of
from jpo.records import RESOURCES, Candidates

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
