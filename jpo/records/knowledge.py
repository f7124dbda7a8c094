"""Knowledge of a workload: all that a decision starts from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jpo.records.arrays import Residuals
from jpo.records.contradictions import Reach
from jpo.records.decisions import TrackRecord
from jpo.records.runs import Run
from jpo.records.suggestions import NO_EVIDENCE, Evidence, Suggestion, Undo
from jpo.records.workloads import Parameters, same


@dataclass(frozen=True, slots=True)
class PhaseNeeds:
    """What the phases of a workload's last runs say of the CPU and memory that it needs.

    Attributes:
        phases: how many of the model's phases they went through.
        cpus, memory_gib: their peaks with headroom.
        peak_to_mean: peak / mean of CPU, and of memory where that is larger.
        drifted: share of the newest run's samples at which it was unlike what the model knows.
        stay_share: mean length of a stay in a phase, as a share of a run.
    """

    runs: int
    phases: int
    cpus: float
    memory_gib: float
    peak_to_mean: float
    drifted: float
    stay_share: float = 1.0

    def __str__(self) -> str:
        measured = f"{self.phases} phases in the last {f'{self.runs} runs' if self.runs > 1 else 'run'}"
        return f"{measured} peak at {self.cpus:.3g} cpus and {self.memory_gib:.3g} GiB with headroom"


@dataclass(frozen=True, slots=True)
class Known:
    """Knowledge of a workload after all sources were asked.

    Attributes:
        runs: all on record, oldest first.
        others: the newest runs of other workloads: what they were like says something about this one.
        siblings: the newest runs of the same job on other hardware, which `others` leaves out.
        fresh: those of `runs` that were new.
        followed_up: the last runs that followed a suggestion of the agent, with the values which it replaced.
        trials: how many of the newest runs were trials.
        untried: the newest suggestion that changed something, if no run has started and ended since.
        last: how to undo the agent's last change, where it is still in force and has been run since.
        track: how the last forecasts turned out, quantity by quantity; those that none was held against are missing.
        residuals: what the other jobs of the installation did that simulated jobs do not; None where the agent learnt of none.
        phase_needs: what the phases of the last runs need; None where [phases] names no model, or nothing was measured.
        reaches: of parameters that runs did not take as they were given, how far they can be set.
        needs_after: by the ids of runs, `phase_needs` as they were after each; those of which nothing was measured are missing.
    """

    runs: tuple[Run, ...]
    others: tuple[Run, ...] = ()
    fresh: tuple[Run, ...] = ()
    followed_up: tuple[tuple[Run, Parameters], ...] = ()
    untried: Suggestion | None = None
    last: Undo | None = None
    track: tuple[TrackRecord, ...] = ()
    residuals: Residuals | None = None
    evidence: Evidence = NO_EVIDENCE
    siblings: tuple[Run, ...] = ()
    reaches: tuple[Reach, ...] = ()
    phase_needs: PhaseNeeds | None = None
    needs_after: Mapping[str, PhaseNeeds] = field(default_factory=dict)
    trials: int = 0

    def waiting_for(self, current: Parameters) -> str | None:
        """Id of the untried suggestion if config.ini still has its values: its outcome comes before the next one."""
        newest = self.untried
        return newest.suggestion_id if newest and same(newest.values.suggested, current) else None
