"""Vocabulary of JPO: the records that its parts hand to each other.

All records are frozen and checked when they are built, so that later code need not ask again. A value that was not measured is
None (never zero). Times are unix seconds, ratios lie in 0..1, units are in the names. The array records at the end carry the
belief from the simulator through the forecast to the agent; numpy is imported by those who build them, not here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jpo.policies import POLICIES as POLICIES
from jpo.policies import TRAINED as TRAINED
from jpo.policies import PolicyName as PolicyName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

PARAMETERS = ("batch_size", "learning_rate", "num_layers", "epochs", "gpus", "cpus", "memory_gib")
"""Names of all parameters which JPO can tune, in the order of reports. batch_size is global, over all GPUs."""

WHOLE = frozenset({"batch_size", "num_layers", "epochs", "gpus"})
"""Parameters which are whole numbers."""

SMALLEST_VALUE, LARGEST_VALUE = 1e-12, 1e12
"""Of a parameter that is not 0: nothing is trained beyond them, and what is computed from such a value would not stay finite."""

Parameters = Mapping[str, float]
"""A configuration: the value of each parameter, by its name."""

RESOURCES = ("gpus", "cpus", "memory_gib")
"""What is paid by the hour: it changes how fast a model is trained, and not the model."""

SAME = 1e-6
"""Relative: values travel through texts and units (bytes, GiB) before they come back as a run."""


def same(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether two configurations agree in all parameters that both name."""
    for name, value in some.items():  # a loop: thousands of runs are looked through in one answer
        other = others.get(name, value)
        if value != other and not math.isclose(value, other, rel_tol=SAME):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a recurring job: runs of one identity are compared with each other, others are not.

    `hardware` is what it runs on, as its team calls it ("a100", "g5.xlarge"). Where nobody says (None), all of it counts as one.
    """

    dataset: str
    model: str
    framework: str
    hardware: str | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "model", "framework"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty; every workload has a dataset, a model and a framework")
        if self.hardware is not None and not self.hardware.strip():
            raise ValueError("hardware is empty; leave it out where it is not known")

    def __str__(self) -> str:
        job = f"{self.dataset}/{self.model}/{self.framework}"
        return f"{job} on {self.hardware}" if self.hardware else job

    @property
    def labels(self) -> dict[str, str]:
        """Its parts by name, without hardware where nobody says it: labels of its metrics, and how documents name it."""
        job = {"dataset": self.dataset, "model": self.model, "framework": self.framework}
        return {**job, "hardware": self.hardware} if self.hardware else job

    def includes(self, other: Identity) -> bool:
        """Whether runs of the other are this one's own: of the same job, on any hardware where this one names none."""
        return self == other or (self.hardware is None and other.is_sibling_of(self))

    def is_sibling_of(self, other: Identity) -> bool:
        """Whether it is the same job on other hardware."""
        return self != other and self == replace(other, hardware=self.hardware)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter: one value of config.ini which JPO may change.

    Attributes:
        name: one of PARAMETERS.
        key: `section.option` as written in the file.
        value: the number in JPO's unit (memory in GiB).
        text: the value's characters in the file, without comment and surrounding blanks.
        line: 1-based line of the value.
        held: why it must not be changed now ("pinned in config.ini", "frozen in jpo.toml"), or None.
    """

    name: str
    key: str
    value: float
    text: str
    line: int
    held: str | None = None

    def __post_init__(self) -> None:
        if self.name not in PARAMETERS:
            raise ValueError(f"{self.name!r} is not a parameter; known are {', '.join(PARAMETERS)}")
        if not math.isfinite(self.value):
            raise ValueError(f"{self.key} = {self.text!r} is not a finite number")


@dataclass(frozen=True, slots=True)
class Workload:
    """Workload: a training job as its config.ini describes it at the moment of reading."""

    identity: Identity
    parameters: tuple[Parameter, ...]
    path: Path
    content: bytes
    """The file as it was read; a later difference is a conflict."""

    def parameter(self, name: str) -> Parameter:
        """The parameter of this name, which must be there."""
        return next(p for p in self.parameters if p.name == name)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the file as it was read."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def current(self) -> dict[str, float]:
        """The values of today by parameter name, in the order of PARAMETERS."""
        return {p.name: p.value for p in self.parameters}


@dataclass(frozen=True, slots=True)
class Edit:
    """Edit of one value in config.ini: its text before and after."""

    key: str
    line: int
    old_text: str
    new_text: str


class RunStatus(StrEnum):
    """Status of a finished run: how it ended. Runs that still go on are never recorded."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OOM_KILLED = "oom_killed"
    DIVERGED = "diverged"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a run: what was measured of it. None means not measured.

    `converged` says whether the job reached its own target; jobs without a target leave it None. `stopped`: it was ended from
    outside before it was done, so that duration and cost are the least it would have taken; a recorded run says so by its status.
    `cpu_utilisation` is relative to the CPUs asked for, `gpu_utilisation` the mean over the run's GPUs. `memory_gib` and
    `gpu_memory_gib` are the highest (of one GPU), `memory_mean_gib` and `cpu_cores_mean` means over the run, p95 the values which
    it stayed below for 95% of its time. `loss_slope` is d ln val_loss / d ln epochs after the first quarter of the run, mostly
    below 0, and `loss_slope_error` its standard error. `epochs` are those that were finished.

    Raises:
        ValueError: a number that cannot be, or a `converged` or `stopped` that is neither true nor false.
    """

    duration_seconds: float | None = None
    cost_usd: float | None = None
    energy_joules: float | None = None
    samples: float | None = None
    throughput_samples_per_second: float | None = None
    train_loss: float | None = None
    val_loss: float | None = None
    gpu_utilisation: float | None = None
    cpu_utilisation: float | None = None
    memory_gib: float | None = None
    gpu_memory_gib: float | None = None
    cpu_cores_mean: float | None = None
    cpu_cores_p95: float | None = None
    memory_mean_gib: float | None = None
    memory_p95_gib: float | None = None
    converged: bool | None = None
    stopped: bool | None = None
    loss_slope: float | None = None
    loss_slope_error: float | None = None
    epochs: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None:
                continue
            if name in ("converged", "stopped"):
                object.__setattr__(self, name, _as_bool(name, value))
                continue
            if not math.isfinite(value):
                raise ValueError(f"{name} = {value} is not a finite number; leave out what was not measured")
            if value < 0 and name not in ("train_loss", "val_loss", "loss_slope"):
                raise ValueError(f"{name} = {value} is negative")
            if value > 1 and name in ("gpu_utilisation", "cpu_utilisation"):
                raise ValueError(f"{name} = {value} is not a ratio in 0..1; 95% is 0.95")


def _as_bool(name: str, value: object) -> bool:
    """Tables hold 0 and 1, numpy has a True of its own: neither `is True`, and a failure must not pass for a success."""
    if value not in (0, 1):
        raise ValueError(f"{name} = {value!r:.80} is neither True nor False; leave out what is not known")
    return bool(value)


MEASURED = tuple(f.name for f in fields(Outcome) if f.name != "stopped")
"""What a source can report of a run next to its status, in the order of the store's columns."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run: one finished execution of a workload, an action (parameters) and what came of it.

    `parameters` holds only what is known; a parameter that the source did not report is absent.
    """

    run_id: str
    identity: Identity
    parameters: Mapping[str, float]
    status: RunStatus
    started_at: float | None
    ended_at: float
    outcome: Outcome
    source: str
    """Where it was read: "prometheus", "csv" or "observe"."""
    fell_silent: bool = False
    """Nobody saw its end: it stopped reporting, and how it ended was judged by its epochs. A later report may know better."""

    def __post_init__(self) -> None:
        if not self.run_id:
            raise ValueError("a run needs an id")
        if not math.isfinite(self.ended_at if self.started_at is None else self.ended_at - self.started_at):
            raise ValueError(f"run {self.run_id} has no time in unix seconds ({self.started_at} to {self.ended_at})")
        if self.started_at is not None and self.ended_at < self.started_at:
            raise ValueError(f"run {self.run_id} ends before it starts ({self.ended_at} < {self.started_at})")
        for name, value in self.parameters.items():
            if not math.isfinite(value):
                raise ValueError(f"run {self.run_id} has {name} = {value}, which is not a finite number")

    @property
    def ended_well(self) -> bool:
        """It succeeded, and reached its target if it had one: only such a run says how long the job takes."""
        return self.status is RunStatus.SUCCEEDED and self.outcome.converged is not False

    def completed(self, usual: Mapping[str, float]) -> Run:
        """The same run; a parameter that it does not report had the usual value."""
        return replace(self, parameters={**usual, **self.parameters})


@dataclass(frozen=True, slots=True)
class Skipped:
    """Run that a source reported but which cannot be used, and why; or several of one kind.

    Attributes:
        run_id: of several runs, the ids of some.
        code: of the kind of reason; empty where the reason says it, or there is none.
        count: how many runs these are.
    """

    run_id: str
    reason: str
    code: str = ""
    count: int = 1


SERIES_QUANTITIES = ("cpu_cores", "memory_gib", "gpu_utilisation")
"""What is kept of a run as it went: busy cores, memory of the trainer, mean utilisation (0..1) of its GPUs."""


@dataclass(frozen=True, slots=True)
class Series:
    """Time series of one quantity during one run, as it was sampled: for phases and percentiles.

    Attributes:
        quantity: with its unit, one of SERIES_QUANTITIES.
        times: unix seconds, rising.
        values: one for each time, finite.
    """

    run_id: str
    quantity: str
    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.quantity not in SERIES_QUANTITIES:
            raise ValueError(f"{self.quantity!r} is not a quantity; known are {', '.join(SERIES_QUANTITIES)}")
        if len(self.times) != len(self.values):
            raise ValueError(f"{len(self.times)} times and {len(self.values)} values of {self.quantity}")
        if not all(map(math.isfinite, (*self.times, *self.values))):
            raise ValueError(f"{self.quantity} of run {self.run_id} holds a value that is not finite")
        if any(later <= earlier for earlier, later in pairwise(self.times)):
            raise ValueError(f"times of {self.quantity} of run {self.run_id} do not rise")


@dataclass(frozen=True, slots=True)
class Finished:
    """Answer of one source of runs.

    Attributes:
        runs: finished runs, oldest first.
        series: how CPU, memory and GPUs of some of these runs went; for the others nothing was asked or measured.
        skipped: what was seen and not used.
        unread: why the answer was cut short, if it was: what came after `watermark` is left for the next one.
        complete: False when the source said that its answer is partial; the watermark must not move then.
        watermark: unix seconds up to which the source has been read completely; None when it has none (CSV).
        passed_over: by id of a run that was seen and is none to record, unix seconds of that look; None: nobody looked.
        warnings: what the source said besides its answer.
        requests, seconds: what the answer took.
    """

    runs: tuple[Run, ...] = ()
    series: tuple[Series, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unread: str | None = None
    complete: bool = True
    watermark: float | None = None
    passed_over: Mapping[str, float] | None = None
    warnings: tuple[str, ...] = ()
    requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference of the user: how much time, cost, efficiency and validation loss matter; weights in 0..1 that sum to 1.

    A worse loss is penalised under every preference; a weight of `loss` says that a better one is worth something too.
    """

    time: float = 0.5
    cost: float = 0.5
    efficiency: float = 0.0
    loss: float = 0.0

    def __post_init__(self) -> None:
        weights = (self.time, self.cost, self.efficiency, self.loss)
        if not all(math.isfinite(w) and 0 <= w <= 1 for w in weights):
            values = ", ".join(f"{f.name}={getattr(self, f.name)}" for f in fields(self))
            raise ValueError(f"weights must be in 0..1, found {values}")
        if abs(sum(weights) - 1) > 1e-6:
            raise ValueError(f"weights sum to {sum(weights):g}; they must sum to 1")


NAMED_PREFERENCES: Mapping[str, Preference] = {
    "time": Preference(1.0, 0.0, 0.0),
    "cost": Preference(0.0, 1.0, 0.0),
    "efficiency": Preference(0.0, 0.0, 1.0),
    "balanced": Preference(0.5, 0.5, 0.0),
}


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval of a forecast: its mean, and bounds that should hold the outcome in 90 of 100 cases."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of one run of a configuration; None where no evidence supports a number.

    Each quantity is the one of `Outcome` with this name.
    """

    duration_seconds: Interval | None = None
    cost_usd: Interval | None = None
    val_loss: Interval | None = None
    throughput_samples_per_second: Interval | None = None
    memory_gib: Interval | None = None
    gpu_utilisation: Interval | None = None
    cpu_utilisation: Interval | None = None


DecidedBy = PolicyName | Literal["user", "rollback", "recovery", "waiting", "no evidence"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of the agent: one candidate, which may be the configuration of today ("keep").

    Attributes:
        choice: row of the candidate set.
        confidence: chance, under the widened belief, of the claim that is made; at most 0.99, None if unknown. A trial claims to
            be safe: it ends well and costs no more than a tenth more than today. Any other change claims to be better than
            today, with the loss kept; keeping, that nothing that may be tried is better by more than noise.
        decided_by: a policy, "user" (set by hand), "rollback" (the last change did harm), "recovery" (no run has ended well),
            "waiting" (for the last suggestion's outcome) or "no evidence".
        reasons: one sentence for each thing that decided it, most important first.
        codes: stable reason codes, e.g. "JPO-I602".
        step: how boldly it goes: "keep" today's, go to a "known" one that was run, "try" the favourite, or "halve" the step:
            try a smaller one, because the favourite may cost more than exploring may.
    """

    choice: int
    confidence: float | None
    decided_by: DecidedBy
    reasons: tuple[str, ...]
    codes: tuple[str, ...] = ()
    step: Literal["keep", "known", "halve", "try"] = "keep"


@dataclass(frozen=True, slots=True)
class Change:
    """Change of one parameter, a line of a suggestion: its value today and the next one."""

    parameter: str
    key: str
    old: float
    new: float
    old_text: str
    new_text: str
    reason: str
    confidence: float | None
    capped_by: str | None = None
    """The limit of the guard at which the value is: without it the agent would have gone further. None: no limit held it."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """Verdict of the independent constraints module on the proposal, for the record."""

    approved: bool
    violations: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """Limits which today's values break, and which the suggestion leaves as they are."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence that a suggestion rests on."""

    runs_used: int
    runs_skipped: tuple[Skipped, ...] = ()
    requests: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """Sentences for the reader, e.g. that the history could not be refreshed."""
    run_ids: tuple[str, ...] = ()
    """The newest runs with today's and with the suggested values, oldest first."""


NO_EVIDENCE = Evidence(0)
"""Before any source was asked."""


@dataclass(frozen=True, slots=True)
class SlaCheck:
    """Check of one SLA target against a forecast or an outcome; "at risk": only the far end of an interval breaks it."""

    name: str
    limit: float
    verdict: Literal["ok", "at risk", "broken", "unknown"]


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """Track record of the earlier forecasts of one quantity.

    Attributes:
        quantity: a field of Forecast.
        forecasts: how many have a finished run to compare with.
        median_error: median of |actual / forecast - 1|, as a ratio.
        inside: how many runs ended within their 90% interval.
    """

    quantity: str
    forecasts: int
    median_error: float
    inside: int


@dataclass(frozen=True, slots=True)
class Currency:
    """Currency in which amounts are shown; they are computed, stored and written to JSON in USD.

    Attributes:
        code: ISO 4217, e.g. "EUR".
        per_usd: how much of it one USD is.
    """

    code: str = "USD"
    per_usd: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.per_usd) and self.per_usd > 0):
            raise ValueError(f"one USD is {self.per_usd} {self.code}; it must be a number above 0")


USD = Currency()


@dataclass(frozen=True, slots=True)
class Alternative:
    """Alternative to the suggestion: a configuration with what is expected of it and why it was not."""

    parameters: Mapping[str, float]
    forecast: Forecast
    why_not: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Suggestion: one answer of JPO with everything needed to explain it later."""

    suggestion_id: str
    identity: Identity
    status: Literal["changed", "kept"]
    keys: Mapping[str, str]
    """`section.option` of every parameter, as written in config.ini."""
    current: Mapping[str, float]
    suggested: Mapping[str, float]
    changes: tuple[Change, ...]
    now: Forecast
    next: Forecast
    guard: Guarded
    evidence: Evidence
    decided_by: str
    confidence: float | None
    reasons: tuple[str, ...]
    codes: tuple[str, ...]
    created_at: float
    preference: Preference
    seed: int
    sla: tuple[SlaCheck, ...] = ()
    policy: str | None = None
    """SHA-256 (hex) of the weights that decided, or "belief rule"; None where neither did."""
    alternatives: tuple[Alternative, ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)
    """What the agent saw of its choice and of the workload, by name."""
    would_change: tuple[str, ...] = ()
    """What another preference, boldness or outcome would have led to, a sentence each."""
    undoes: str | None = None
    """For a rollback: the id of the suggestion whose `current` values it restores, undoing that one and all after it."""
    pinned_until: float | None = None
    """For a rollback: unix seconds up to which the values that it restored stay as they are."""

    @property
    def widened(self) -> tuple[str, ...]:
        """The reasons that say that intervals are widened: whoever reads the forecasts must know."""
        return tuple(reason for reason in self.reasons if "widened by" in reason)

    @property
    def of_policy(self) -> str | None:
        """The reason that says what the trained policy did; None where it was not asked."""
        return next((reason for reason in self.reasons if reason.startswith(("SAC", "policy "))), None)

    def expected_change(self, quantity: str) -> float | None:
        """The ratio next / now of a forecast; None where one of them is unknown, or nothing can be a multiple of today's."""
        now, then = getattr(self.now, quantity), getattr(self.next, quantity)
        return then.mean / now.mean if now and then and now.mean > 0 else None


@dataclass(frozen=True, slots=True)
class Undo:
    """Undoing of a suggestion and of all after it: what it means to go back.

    Attributes:
        suggestion_id: that one.
        undone: it and all after it that changed config.ini, rollbacks included, oldest first; at least one.
    """

    suggestion_id: str
    undone: tuple[Suggestion, ...]

    @property
    def first(self) -> dict[str, Change]:
        """By parameter the first change, whose old value comes back."""
        return {change.parameter: change for suggestion in reversed(self.undone) for change in suggestion.changes}

    @property
    def last(self) -> dict[str, Change]:
        """By parameter the last change, whose new value must be in the file."""
        return {change.parameter: change for suggestion in self.undone for change in suggestion.changes}

    @property
    def values(self) -> dict[str, float]:
        """The values that come back."""
        return {name: change.old for name, change in self.first.items()}

    @property
    def texts(self) -> dict[str, str]:
        """The same as they were in the file."""
        return {name: change.old_text for name, change in self.first.items()}


@dataclass(frozen=True, slots=True)
class Known:
    """Knowledge of a workload after all sources were asked.

    Attributes:
        runs: all on record, oldest first.
        others: the newest runs of other workloads: what they were like says something about this one.
        siblings: the newest runs of the same job on other hardware, which `others` leaves out.
        fresh: those of `runs` that were new.
        followed_up: the last runs that followed a suggestion of the agent, with the values which it replaced.
        untried: the newest suggestion that changed something, if no run has started and ended since.
        last: how to undo the agent's last change, where it is still in force and has been run since.
        track: how the last forecasts turned out, quantity by quantity; those that none was held against are missing.
        residuals: what the other jobs of the installation did that simulated jobs do not; None where the agent learnt of none.
        evidence: the account of it for the report.
        codes: reason codes for the report.
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
    codes: tuple[str, ...] = ()
    siblings: tuple[Run, ...] = ()

    def waiting_for(self, current: Parameters) -> str | None:
        """Id of the untried suggestion if config.ini still has its values: its outcome comes before the next one."""
        newest = self.untried
        return newest.suggestion_id if newest and same(newest.suggested, current) else None


# --- arrays: J simulated jobs, K candidates, P parameters -------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Candidates:
    """Candidate set: the configurations between which the agent chooses, together with those that have been run.

    Attributes:
        names: parameter names, the columns of `values`.
        values: shape (K, P), in JPO's units.
        current: row which config.ini holds today.
        admissible: shape (K,); False for rows that are known only because they were run once, and may not be proposed now.
        log_rate: shape (K,), natural log of a row's price per hour relative to the current row.
        priced: False if no prices are known and log_rate rests on relative weights of the resources.
    """

    names: tuple[str, ...]
    values: Floats
    current: int
    admissible: Bools
    log_rate: Floats
    priced: bool = True

    def __post_init__(self) -> None:
        k = len(self.values)
        assert self.values.shape == (k, len(self.names))
        assert self.admissible.shape == self.log_rate.shape == (k,)
        assert 0 <= self.current < k

    def parameters(self, row: int) -> dict[str, float]:
        return {name: float(value) for name, value in zip(self.names, self.values[row], strict=True)}


@dataclass(frozen=True, eq=False, slots=True)
class Draws:
    """Draws of simulated jobs on the candidates: everything a prior says before the first run.

    All shape (J, K), natural logs relative to the current candidate (so that its column is 0), noise-free:
        log_time: duration of a run that ends well.
        log_loss: final validation loss.
        log_utilisation: busy share of what was allotted (GPUs, else CPUs).
        log_power: electric power of one accelerator.
        fails: True where the job diverges, runs out of memory or never reaches what it must.
        log_throughput: samples per second, so that log_time + log_throughput is the work; None: not told apart.
    and of shape (J,):
        to_target: True where the job ends at a target of its own, False after a fixed number of epochs; None: not told apart.
        loss_slope: d ln loss / d ln epochs after the first quarter of the current candidate's run, NaN where the job ends at a
            target; None: not told.
        loader_share: share of a step of the current candidate's run during which its CPUs load data, in 0..1, NaN where they
            compute; None: not told.
    """

    log_time: Floats
    log_loss: Floats
    log_utilisation: Floats
    log_power: Floats
    fails: Bools
    log_throughput: Floats | None = None
    to_target: Bools | None = None
    loss_slope: Floats | None = None
    loader_share: Floats | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Belief:
    """Belief about every candidate after the runs so far: weighted particles, already moved towards own measurements.

    Attributes:
        weights: shape (J,), sum 1.
        log_time, log_cost, log_loss, log_utilisation: shape (J, K), natural logs relative to the current candidate.
        fails: shape (J, K), where a particle fails.
        p_fail: shape (K,), probability that a run there fails.
        runs, failures, stopped: shape (K,), own runs there that ended well, that failed, and that were stopped from outside.
        noise: standard deviation of the natural log of a single run's duration.
        duration_seconds: what log_time = 0 means, None before the first finished run.
        val_loss: what log_loss = 0 means, None before the first validation loss.
        effective_share: effective sample size of the particles / J, in 0..1: small means that the prior does not fit.
        knows_utilisation: False while no run has measured any: log_utilisation is then the simulator's alone.
        loss_runs: shape (K,), how many of `runs` measured a validation loss; None: all of them.
        time_runs: shape (K,), how many runs say how long it takes there, where some parameters do not matter; None: `runs`.
    """

    weights: Floats
    log_time: Floats
    log_cost: Floats
    log_loss: Floats
    log_utilisation: Floats
    fails: Bools
    p_fail: Floats
    runs: Ints
    failures: Ints
    stopped: Ints
    noise: float
    duration_seconds: float | None
    val_loss: float | None
    effective_share: float
    knows_utilisation: bool
    loss_runs: Ints | None = None
    time_runs: Ints | None = None

    @property
    def tried(self) -> Bools:
        """Candidates that have been run, however it ended, shape (K,)."""
        return (self.runs + self.failures + self.stopped) > 0

    @property
    def only_failed(self) -> Bools:
        """Candidates that have failed and never ended well, shape (K,)."""
        failed: Bools = (self.failures > 0) & (self.runs == 0)
        return failed


@dataclass(frozen=True, eq=False, slots=True)
class Residuals:
    """Residuals of N configurations which jobs of one installation ran, against simulated jobs, relative to their references.

    Attributes:
        workloads: the jobs, by their identity as text.
        job: shape (N,), position in `workloads`.
        points: shape (N, C), where the configuration is, in doublings against the job's reference.
        log_time: shape (N,), natural log of the duration less what simulated jobs take on average; NaN where none ended well.
        sd: shape (N,), by how much simulated jobs differ there.
        failed: shape (N,), share of the runs that failed.
        p_fail: shape (N,), share of the simulated jobs that fail there.
    """

    workloads: tuple[str, ...]
    job: Ints
    points: Floats
    log_time: Floats
    sd: Floats
    failed: Floats
    p_fail: Floats
