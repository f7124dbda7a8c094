"""Runs: finished executions, what was measured of them, and what a source says."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from itertools import pairwise

from jpo.records.notes import Note
from jpo.records.workloads import Identity

KUBERNETES = "kubernetes"
"""Source of runs that report nothing: labels of their pods say what they are, and losses are never known of them."""


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
    outside before it was done, so that duration and cost are the least it would have taken; a recorded run says so by its
    status. `cpu_utilisation` is relative to the CPUs asked for, `gpu_utilisation` the mean over the run's GPUs. `memory_gib`
    and `gpu_memory_gib` are the highest (of one GPU), `memory_mean_gib` and `cpu_cores_mean` means over the run, p95 the
    values which it stayed below for 95% of its time. `loss_slope` is d ln val_loss / d ln epochs after the first quarter of
    the run, mostly below 0, and `loss_slope_error` its standard error. `epochs` are those that were finished. `val_accuracy`
    is a ratio in 0..1. `metrics` are what the user measures of the model by own names, as they were reported; which of them
    counts and which direction is better, the settings say.

    Raises ValueError: a number that cannot be, or a `converged` or `stopped` that is neither true nor false.
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
    val_accuracy: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None or name == "metrics":
                continue
            if name in ("converged", "stopped"):
                # Tables hold 0 and 1, numpy has a True of its own: neither `is True`, and a failure must not pass for a success.
                if value not in (0, 1):
                    raise ValueError(f"{name} = {value!r:.80} is neither True nor False; leave out what is not known")
                object.__setattr__(self, name, bool(value))
                continue
            if not math.isfinite(value):
                raise ValueError(f"{name} = {value} is not a finite number; leave out what was not measured")
            if value < 0 and name not in ("train_loss", "val_loss", "loss_slope"):
                raise ValueError(f"{name} = {value} is negative")
            if value > 1 and name in ("gpu_utilisation", "cpu_utilisation", "val_accuracy"):
                raise ValueError(f"{name} = {value} is not a ratio in 0..1; {value:g}% is {value / 100:g}")
        for name, value in self.metrics.items():
            if not math.isfinite(value):
                raise ValueError(f"{name} = {value} is not a finite number; leave out what was not measured")

    def of(self, quantity: str) -> float | None:
        """What was measured of a quantity, or of a metric of the user's own; None: nothing."""
        value: float | None = getattr(self, quantity) if quantity in MEASURED else self.metrics.get(quantity)
        return value

    @property
    def known(self) -> dict[str, float]:
        """By quantity what was measured, the user's own metrics last."""
        return {**{name: value for name in MEASURED if (value := getattr(self, name)) is not None}, **self.metrics}


MEASURED = tuple(f.name for f in fields(Outcome) if f.name not in ("stopped", "metrics"))
"""What a source can report of a run next to its status, in the order of the store's columns."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run: one finished execution of a workload, an action (parameters) and what came of it.

    `parameters` holds only what is known; a parameter that the source did not report is absent. Words are in it as `Word`.
    """

    run_id: str
    identity: Identity
    parameters: Mapping[str, float]
    status: RunStatus
    started_at: float | None
    ended_at: float
    outcome: Outcome
    source: str
    """Where it was read: "prometheus", KUBERNETES, "csv", "observe", or of `jpo import` its format and place."""
    fell_silent: bool = False
    """Nobody saw its end: it stopped reporting, and how it ended was judged by its epochs. A later report may know better."""
    assumed: tuple[str, ...] = ()
    """Parameters that the source did not report, and whose values are those of the suggestion then in force."""
    given_by: str = field(default="", compare=False)
    """The suggestion that its log names, which may be another history's; not on record."""

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

    @property
    def missed(self) -> bool:
        """It ended without the target that it was to reach, after its last epoch or since JPO saw that it was too far: it is the
        beginning of a longer run. Who else stops a run says nothing of it."""
        return self.outcome.converged is False and self.status in (RunStatus.SUCCEEDED, RunStatus.STOPPED)

    @property
    def tells_no_quality(self) -> bool:
        """It was a labelled pod: nobody says how good its model is, nor will of the next one."""
        measured = self.outcome
        return self.source == KUBERNETES and measured.val_loss is measured.val_accuracy is None and not measured.metrics

    def completed(self, usual: Mapping[str, float]) -> "Run":
        """The same run; a parameter that it does not report had the usual value."""
        return replace(self, parameters={**usual, **self.parameters})


@dataclass(frozen=True, slots=True)
class Running:
    """A run that goes on: it is no evidence yet, and never put on record. None: not reported.

    Attributes:
        parameters, started_at, assumed: as in Run.
        seen_at: unix seconds by the server's clock; what is said of it holds then.
        silent: it reported nothing in the last minutes, nor that it ended: a gap between scrapes, or it is gone.
        source: "prometheus" or KUBERNETES, of which no progress is known.
        epochs_done, samples: what it has finished so far.
        samples_per_second, gpu_utilisation (a ratio), cpu_cores, memory_gib: over the last minutes, memory the highest.
        share_done: of its whole work, 0..1, as far as its epochs or earlier runs tell.
        ends_at: unix seconds at which it is expected to end.
    """

    run_id: str
    identity: Identity
    parameters: Mapping[str, float]
    started_at: float | None
    seen_at: float
    source: str
    silent: bool = False
    epochs_done: float | None = None
    samples: float | None = None
    samples_per_second: float | None = None
    gpu_utilisation: float | None = None
    cpu_cores: float | None = None
    memory_gib: float | None = None
    assumed: tuple[str, ...] = ()
    share_done: float | None = None
    ends_at: float | None = None

    @property
    def elapsed_seconds(self) -> float | None:
        """How long it has been going on; the clock of its machine may be ahead."""
        return None if self.started_at is None else max(0.0, self.seen_at - self.started_at)


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


class Implausible(Skipped):
    """Run of which what cannot be believed was left out, and what that was; its values are evidence, if any is left."""


SERIES_QUANTITIES = ("cpu_cores", "memory_gib", "gpu_utilisation")
"""What is kept of a run as it went: busy cores, memory of the trainer, mean utilisation (0..1) of its GPUs."""


@dataclass(frozen=True, slots=True)
class Series:
    """Time series of one quantity during one run, as it was sampled: for phases and percentiles.

    `quantity`: with its unit, one of SERIES_QUANTITIES. `times`: unix seconds, rising. `values`: one for each time, finite.
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
            raise ValueError(f"{self.quantity} of run {self.run_id} contains a value that is not finite")
        if any(later <= earlier for earlier, later in pairwise(self.times)):
            raise ValueError(f"times of {self.quantity} of run {self.run_id} do not rise")


@dataclass(frozen=True, slots=True)
class Finished:
    """Answer of one source of runs.

    Attributes:
        runs: finished runs, oldest first.
        series: how CPU, memory and GPUs of some of these runs went; for the others nothing was asked or measured.
        doubts: what contradicts itself in what was used all the same.
        unread: why the answer was cut short, if it was: what came after `watermark` is left for the next one.
        complete: False when the source said that its answer is partial; the watermark must not move then.
        watermark: unix seconds up to which the source has been read completely; None when it has none (CSV).
        passed_over: by id of a run that was seen and is none to record, unix seconds of that look; None: nobody looked.
        requests, seconds: what the answer took.
        elsewhere: how many runs of other workloads the source holds, where it was seen in passing.
    """

    runs: tuple[Run, ...] = ()
    series: tuple[Series, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    doubts: tuple[Note, ...] = ()
    unread: str | None = None
    complete: bool = True
    watermark: float | None = None
    passed_over: Mapping[str, float] | None = None
    warnings: tuple[str, ...] = ()
    requests: int = 0
    seconds: float = 0.0
    elsewhere: Mapping[Identity, int] = field(default_factory=dict)


def by_workload(runs: Iterable[Run]) -> dict[Identity, list[Run]]:
    """The runs of each workload, in order."""
    found: dict[Identity, list[Run]] = {}
    for run in runs:
        found.setdefault(run.identity, []).append(run)
    return found
