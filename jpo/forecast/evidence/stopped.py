"""What stopped runs of a job with a target would have needed: more than they had done, and how much more their last error says.

As a bound alone, a trial that was stopped early says next to nothing, and the next one is made beside it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from jpo.forecast.evidence.work import samples_of
from jpo.forecast.measurements import CandidateRun, logs_by_row

USUAL_SLOPE, LEAST_SLOPE = 0.5, 0.1
"""Fall of ln error for each unit of ln epochs, where no run was long enough to measure any; the least that is taken for one."""
MOST_EPOCHS = 20.0
"""Of a run, where none says how many it had: none was further from the target than after its first."""


FARTHEST = 1.5
"""ln of all epochs over those done, at the pace of runs that reached the target, beyond which it does not get any worse."""
LATER, LATER_BY = 0.1, 0.7
"""By how much it is larger than that in the mean, and how much more for each unit: half of the runs with other values need twice
as long. Fitted to seven families of small networks (benchmarks/curves; decision 0092), and judged on others."""
SPREAD, SPREAD_BY = 0.15, 0.75
"""Its standard deviation, likewise."""


@dataclass(frozen=True, slots=True)
class SamplesNeeded:
    """Samples that a stopped run would have needed: in the median, and the standard deviation of their natural log."""

    run: CandidateRun
    samples: float
    deviation: float


def samples_needed(well: Sequence[CandidateRun], stopped: Sequence[CandidateRun], noise: float) -> list[SamplesNeeded]:
    """What stopped runs would have needed, of those whose error and samples are known and that were stopped as too far from a
    target: they did not converge. Who lost its node, or was stopped by a user, may have been about to.

    Runs that reached the target had such an error when they had done (error / their last)^(-1 / slope) of their epochs, by their
    own slope; from there it is as far as `log_epochs_in_all` says.

    Where equal runs reached the target, it is one of these that took longer: they tell how it goes on better than the curves of
    others, which may be lower at first, as under another schedule. `well`: runs that reached the target; `noise`: standard
    deviation of ln samples between equal runs.
    """
    equal = logs_by_row(well, lambda run: samples_of(run.run))
    last = [error for run in well if (error := run.outcome.val_loss) and error > 0]
    if not last:
        return []
    slopes = [-run.outcome.loss_slope for run in well if run.outcome.loss_slope is not None]
    slope = max(LEAST_SLOPE, median(slopes)) if slopes else USUAL_SLOPE
    farthest = math.log(max(1.0, median([run.outcome.epochs for run in well if run.outcome.epochs] or [MOST_EPOCHS])))
    found = []
    for run in stopped:
        error, samples = run.outcome.val_loss, samples_of(run.run)
        if run.outcome.converged is not False or not samples:
            continue
        if run.row in equal:
            usual = fmean(equal[run.row])
            found.append(SamplesNeeded(run, math.exp(usual + noise * beyond((math.log(samples) - usual) / noise)), noise))
        elif error and error > 0:
            mean, deviation = log_epochs_in_all(min(max(0.0, math.log(error / median(last))) / slope, farthest))
            found.append(SamplesNeeded(run, samples * math.exp(mean), deviation))
    return found


def log_epochs_in_all(at_their_pace: float) -> tuple[float, float]:
    """Mean and standard deviation of ln of all epochs over those done, by what it is at the pace of those that got there."""
    far = min(at_their_pace, FARTHEST)
    return at_their_pace + LATER + LATER_BY * far, SPREAD + SPREAD_BY * far


def beyond(bound: float) -> float:
    """Mean of a standard normal above a bound; as the bound itself where hardly anything is left."""
    left = math.erfc(bound / math.sqrt(2)) / 2
    return math.exp(-(bound**2) / 2) / math.sqrt(2 * math.pi) / left if left > 1e-12 else bound
