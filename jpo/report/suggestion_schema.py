"""Schema of a suggestion as pipelines read it. The names of these classes are published, as its definitions."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from jpo.cost.price import Rented
from jpo.records import ChangeKind, plain
from jpo.records.from_plugins import Queued

Value = Annotated[float | str, BeforeValidator(plain)]


class Published(BaseModel):
    """Base of every object of the published document: its fields and no others, frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkloadDocument(Published):
    dataset: str
    model: str
    framework: str
    hardware: str | None = None  # left out where nobody says


class ChangeDocument(Published):
    parameter: str
    key: str
    old: Value
    new: Value
    old_text: str
    new_text: str
    reason: str
    confidence: float | None
    capped_by: str | None


class IntervalDocument(Published):
    """Mean and 90% interval."""

    mean: float
    low: float
    high: float


class NowNext(Published):
    """Null where no evidence supports a number."""

    now: IntervalDocument | None
    next: IntervalDocument | None


NOTHING = NowNext(now=None, next=None)


class ForecastDocument(Published):
    duration_seconds: NowNext
    cost_usd: NowNext
    val_loss: NowNext
    throughput_samples_per_second: NowNext = NOTHING
    memory_gib: NowNext = NOTHING
    gpu_utilisation: NowNext = NOTHING
    cpu_utilisation: NowNext = NOTHING
    val_accuracy: NowNext = NOTHING
    energy_joules: NowNext = NOTHING
    metrics: dict[str, NowNext] = {}


class AlternativeDocument(Published):
    """A configuration that was not suggested: what is expected of it (by quantity; null = unknown), and why it was not.

    Metrics of the user's own stand among the quantities, by their names.
    """

    parameters: dict[str, Value]
    forecast: dict[str, IntervalDocument | None]
    why_not: str


class SlaDocument(Published):
    name: str
    limit: float
    verdict: Literal["ok", "at risk", "broken", "unknown"]


class SkippedDocument(Published):
    run_id: str
    reason: str
    code: str = ""
    count: int = 1


class PrometheusDocument(Published):
    requests: int
    seconds: float


class EvidenceDocument(Published):
    runs_used: int
    runs_skipped: list[SkippedDocument]
    prometheus: PrometheusDocument
    notes: list[str]
    run_ids: list[str] = []


class GuardDocument(Published):
    approved: bool
    violations: list[str]
    notices: list[str]


class TrackDocument(Published):
    """Accuracy of earlier forecasts of one quantity; `median_error` is a ratio."""

    quantity: str
    forecasts: int
    median_error: float
    inside: int


class RuleDocument(Published):
    """Rule of the decision: how many candidates it took away, and how many were left."""

    name: str
    code: str
    removed: int
    left: int


class SuggestionDocument(Published):
    """One answer of `jpo suggest -o json`. Times are unix seconds.

    `confidence` is the chance of the claim, see `records.Decision`; null = unknown. `committed`: the checkout's, if others.
    `evidence.run_ids`: the newest runs with today's and with the suggested values. `seen`: what the agent saw, by name.
    `difference`: next against today with its 90% interval, by quantity as a ratio (0.8: 20% less), of an accuracy or a metric of
    the user's own as a difference; "objective": as weighed. Widened as `confidence` is; the noise of a single run is not in it.
    `undoes`: for a rollback, the suggestion that it undoes, with all after it; its values stay as they are until `pinned_until`.
    `kind` and, of a trial, which of how many it is; `rules` of the decision, the one that chose last.
    `runs_saved`: that SAC expects of its choice against the rule's, where it had a say.
    `as_run`: parameters that runs have at another value than config.ini gave them. Without a change the file keeps its own.
    """

    schema_version: Literal[1]
    suggestion_id: str
    created_at: float
    config: str
    workload: WorkloadDocument
    status: Literal["changed", "kept"]
    written: bool
    current: dict[str, Value]
    suggested: dict[str, Value]
    changes: list[ChangeDocument]
    decided_by: str
    confidence: float | None
    reasons: list[str]
    forecast: ForecastDocument
    sla: list[SlaDocument]
    track_record: list[TrackDocument]
    evidence: EvidenceDocument
    guard: GuardDocument
    reason_codes: list[str]
    preference: dict[str, float]
    seed: int
    diff: str | None
    alternatives: list[AlternativeDocument] = []
    would_change: list[str] = []
    difference: dict[str, IntervalDocument] = {}
    seen: dict[str, float] = {}
    policy: str | None = None
    undoes: str | None = None
    pinned_until: float | None = None
    as_run: list[str] = []
    committed: dict[str, Value] | None = None
    instance: dict[Literal["now", "next"], Rented | None] | None = None
    queue: Queued | None = None
    kind: ChangeKind | None = None
    trial: tuple[int, int] | None = None
    rules: list[RuleDocument] = []
    runs_saved: IntervalDocument | None = None
