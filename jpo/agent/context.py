"""Context of the next run: how many runs are to come, what they may cost, what will change, and how well the last forecasts were
met. Anything may be unknown; the networks are shown that it is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np

from jpo.agent.acquisition import AcquisitionValues
from jpo.agent.change_detection import Chart
from jpo.agent.horizon import horizon
from jpo.agent.safety.queue_waits import QueueWaits
from jpo.records import Belief, Floats, Run


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of the last run that ended well, and what surrounds it; None = not measured, or not asked for.

    Attributes:
        gpu_utilisation, cpu_utilisation: busy shares of what was allotted, 0..1.
        memory_share: peak of the host's memory as a share of what was asked for.
        throughput: natural log of samples per second against the reference run.
        loss: natural log of the validation loss against the reference run.
        samples: natural log of the number of samples against the reference run: above 0 the data have grown.
        sla_slack: smallest natural log of limit / outcome over the SLA targets; below 0 one was broken.
    """

    gpu_utilisation: float | None = None
    cpu_utilisation: float | None = None
    memory_share: float | None = None
    throughput: float | None = None
    loss: float | None = None
    samples: float | None = None
    sla_slack: float | None = None


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """Summary of the phases that the last runs went through; None = no model of phases, or nothing was measured.

    Attributes:
        phases: natural log of their number.
        stay: natural log of the mean length of a stay in one, as a share of a run: 0 where a run is one phase.
        peak_to_mean: natural log of peak / mean of CPU, or of memory where that is larger.
        drifted: share of the newest run, 0..1, that was unlike what the model of phases knows.
    """

    phases: float | None = None
    stay: float | None = None
    peak_to_mean: float | None = None
    drifted: float | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ChangeWatch:
    """Watch for a changed world, by what the last runs show; None = not known.

    Attributes:
        age: shape (K,), how many runs ago a candidate last ran (0 = the last run), NaN = never.
        moved: shape (K,), ln of the duration of the last run there / what is believed of it now: far from 0 where the world has
            changed since; NaN = none ended well.
        last_miss: the last run's standardised forecast error, see change_detection.py; None = it had none.
        surprise: how close the forecast errors are to the alarm of a changed world, in 0..1.
    """

    age: "Floats | None" = None
    moved: "Floats | None" = None
    last_miss: float | None = None
    surprise: float = 0.0


@dataclass(frozen=True, eq=False, slots=True)
class EarlierJobs:
    """The candidates as jobs that ran on this installation before would have them (residuals.py).

    Attributes:
        acquisition: their acquisition values.
        p_fails: shape (K,), probability of failing.
        jobs: how many jobs these rest on.
    """

    acquisition: AcquisitionValues
    p_fails: Floats
    jobs: int


@dataclass(frozen=True, eq=False, slots=True)
class Context:
    """Context of the next run: the circumstances that neither belief nor preference hold.

    Attributes:
        runs_left: how many runs follow the next one, by the user's word; None = not said.
        budget_slack: ln of what may still be spent / what the runs to come would cost with the incumbent; None = no budget.
        later: acquisition values under the conditions (preference, prices) which some of the runs to come will have; None =
            they are those of the next run, as far as anybody knows.
        share_later: share of the runs to come that will have them, in 0..1.
        watch: whether the world has changed.
        scenarios: names of what the user said or asked for; a policy must have been released for each of them to decide here.
        runs_done: how many have finished; equal ones at the beginning are one, the reference.
        earlier: the candidates as earlier jobs of the installation have them; None = there were none.
        usage: of the last run; phases: of the last runs.
        nightly: the runs are the nights of a pipeline.
        queue: what the engine says of runs that are submitted now; None = there is none, or it was not asked.
    """

    runs_left: int | None = None
    budget_slack: float | None = None
    later: AcquisitionValues | None = None
    share_later: float = 0.0
    watch: ChangeWatch = field(default_factory=ChangeWatch)
    scenarios: tuple[str, ...] = ()
    runs_done: int = 0
    earlier: EarlierJobs | None = None
    usage: Usage = field(default_factory=Usage)
    phases: PhaseSummary = field(default_factory=PhaseSummary)
    nightly: bool = False
    queue: QueueWaits | None = None

    @property
    def horizon(self) -> float:
        """Further runs which a better configuration is taken to serve."""
        return horizon(self.runs_done, self.runs_left, nightly=self.nightly)


UNKNOWN = Context()


def watched(context: Context, belief: Belief, rows: Sequence[int], runs: Sequence[Run]) -> Context:
    """The context with what the runs so far, oldest first, say of change: `age` and `moved`. `rows`: their candidates."""
    age, moved = np.full((2, len(belief.runs)), np.nan)
    forecast = belief.weights @ belief.log_time + math.log(belief.duration_seconds or 1.0)  # (K,)
    for at, (row, run) in enumerate(zip(rows, runs, strict=True)):
        age[row] = len(rows) - 1 - at
        if run.ended_well and run.outcome.duration_seconds and belief.duration_seconds:
            moved[row] = math.log(run.outcome.duration_seconds) - forecast[row]
    return replace(context, watch=replace(context.watch, age=age, moved=moved))


def after_misses(context: Context, misses: Sequence[float | None]) -> Context:
    """The context with how well the last forecasts were met: `last_miss` and `surprise`. `misses`: of the runs, oldest first."""
    chart = reduce(Chart.after, misses, Chart())
    last = misses[-1] if misses else None
    return replace(context, watch=replace(context.watch, last_miss=last, surprise=chart.surprise))


def log_ratio(value: float | None, reference: float | None) -> float | None:
    """Natural log of a ratio; None where one of the two was not measured, or is not above 0."""
    return math.log(value / reference) if value and reference and value > 0 and reference > 0 else None
