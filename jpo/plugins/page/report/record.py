"""Review: all that is shown of a store, gathered by the command; the forms only say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jpo.cost.sla import Compliance
from jpo.history import AuditRecord, Verification
from jpo.history.figures import Spread
from jpo.optimizer.before_and_after import Spent
from jpo.plugins.page.configurations import MeasuredFront
from jpo.plugins.page.rewards import RewardComponents
from jpo.plugins.page.savings import Saved
from jpo.records import USD, Currency, Identity, Interval, SlaCheck, Suggestion
from jpo.report.before_after import WorkloadChange
from jpo.report.history import Ledger, PastRun


@dataclass(frozen=True, slots=True)
class ReviewedSuggestion:
    """A suggestion, who asked for it, what became of it, and what came of the runs that followed.

    Attributes:
        asked_by: in the words of the audit log; empty where it does not say.
        fate: "written", "conflict" or "not written"; "kept"; "unknown" where the log does not say whether it was written.
        actual: the durations of the runs that followed and ended well; `runs`: of all that followed.
        compared, inside: of how many of them the duration could be compared, and how many were inside the forecast's interval.
        spent: what these took beyond what their models would have taken; None: none ran since JPO's first change.
    """

    suggestion: Suggestion
    asked_by: str
    fate: str
    actual: Spread
    runs: int
    compared: int
    inside: int
    spent: Spent | None = None


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A run with what it cost by the user's prices, and each promise of [sla] with what was measured."""

    past: PastRun
    cost_usd: float | None
    usd_per_hour: float | None
    checks: Sequence[tuple[SlaCheck, float | None]]


@dataclass(frozen=True, slots=True)
class WorkloadReview:
    """A workload: its runs and decisions, oldest first, and what came of them.

    Attributes:
        saved: of time and of money.
        saved_by_run: by quantity of `saved` when each run of the account ended, and what it saved.
        today: the values of the newest suggestion; empty without any.
        repository: of the newest suggestion, else the folder of its config.ini; empty where the log says neither.
    """

    identity: Identity
    saved: Sequence[Saved]
    change: WorkloadChange
    runs: Sequence[ReviewedRun]
    decisions: Sequence[ReviewedSuggestion]
    ledger: Ledger
    compliance: Compliance
    front: MeasuredFront
    rewards: Sequence[RewardComponents]
    today: Mapping[str, float]
    saved_by_run: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    repository: str = ""

    @property
    def since(self) -> float | None:
        """Unix seconds of JPO's first change; None: there was none."""
        return self.change.first_change


@dataclass(frozen=True, slots=True)
class AuditDigest:
    """The audit log in short.

    Attributes:
        chain: what verifying it said; of records after the first bad one nothing is told.
        kinds: how many records there are of each kind.
        notable: refusals, conflicts, rollbacks and what was deleted, oldest first.
        learnt, tested: the newest records of the agent's learning, and of its release tests.
        made: by id of a suggestion the record of it; `became`: the kind of the record that says what became of it.
        contradicted: ids of suggestions of which the tables say something else than the log.
    """

    chain: Verification
    kinds: Mapping[str, int]
    notable: Sequence[AuditRecord]
    learnt: Sequence[AuditRecord]
    tested: Sequence[AuditRecord]
    made: Mapping[str, AuditRecord] = field(default_factory=dict)
    became: Mapping[str, str] = field(default_factory=dict)
    contradicted: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """A store.

    Attributes:
        place: its URL as messages show it.
        saved: of all workloads together, by quantity; None: of none it is known.
        targets: those of [sla].
        decides: who decides now where no user does, in words.
        notes: what else the reader must know.
        newest: of how many runs, decisions and records these are the newest, for a form that nobody reads further; None: all.
        sections: of how many workloads there is one; None: of all.
    """

    made_at: float
    place: str
    version: str
    workloads: Sequence[WorkloadReview]
    saved: Mapping[str, Interval | None]
    targets: Mapping[str, float]
    audit: AuditDigest
    decides: str
    notes: Sequence[str] = ()
    currency: Currency = USD
    newest: int | None = None
    sections: int | None = None
