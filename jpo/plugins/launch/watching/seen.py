"""A run as it is now: what its engine, its log and Prometheus show of it, each where it is there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from jpo.forecast.curves.curve import EpochProgress, epoch_progress
from jpo.plugins.launch.during.divergence import has_diverged
from jpo.plugins.launch.job import JobState
from jpo.records import VAL_LOSS, Identity, Parameters, Quality, RunStatus
from jpo.telemetry.csv.follow import LogRow

Points = tuple[tuple[float, float], ...]
"""Of a learning curve: epochs done, and value."""


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Moments of a run, unix seconds. None: not known.

    Attributes:
        starts_at: when its engine expects it to start, while it waits.
    """

    started_at: float | None = None
    starts_at: float | None = None
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class TrainingLog:
    """What a run has said of its training so far. None: not known.

    Attributes:
        last_epoch: the last one that is done, as the run numbers them: its first may be 0.
        share_done: of its work, 0..1.
        rows: of its log, in order.
        curves: by quality of the model.
    """

    last_epoch: float | None = None
    share_done: float | None = None
    samples_per_second: float | None = None
    rows: tuple[LogRow, ...] = ()
    curves: Mapping[str, Points] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourcesInUse:
    """What a run uses: over the last minutes, memory the highest. None: not measured."""

    busy_cpus: float | None = None
    busy_gpus: float | None = None
    memory_gib: float | None = None


@dataclass(frozen=True, slots=True)
class SeenRun:
    """A run as it is now.

    Attributes:
        source: name of its engine, observers.CSV or PROMETHEUS.
        at: unix seconds of this look.
        words: of its engine: why it waits, how it ended; or what is amiss with its log.
        status: None: it goes on, or how it ended is not known.
    """

    run_id: str
    identity: Identity
    parameters: Parameters
    source: str
    state: JobState
    at: float
    words: str = ""
    place: str = ""
    status: RunStatus | None = None
    times: RunTimes = RunTimes()
    training: TrainingLog = field(default_factory=TrainingLog)
    use: ResourcesInUse = ResourcesInUse()

    @property
    def over(self) -> bool:
        """Whether nothing of it will change any more."""
        return self.state in (JobState.ENDED, JobState.UNKNOWN)

    @property
    def elapsed_seconds(self) -> float | None:
        """Since its start, until now or its end; its last row was not written later than now, whatever its clock says."""
        newest = next((row.time for row in reversed(self.training.rows) if row.time is not None), self.at)
        started, ended = self.times.started_at, self.times.ended_at
        return None if started is None else max(0.0, (ended or max(self.at, newest)) - started)

    @property
    def epochs(self) -> EpochProgress:
        """When its epochs were done."""
        start = self.times.started_at
        times = ((row.epoch, row.time, row.samples) for row in self.training.rows if row.epoch is not None)
        return epoch_progress([(epoch, time - start, samples) for epoch, time, samples in times if time and start is not None])

    @property
    def epoch_times(self) -> Points:
        """Epochs that are done, and when, unix seconds."""
        return tuple((epoch, seconds + (self.times.started_at or 0.0)) for epoch, seconds in self.epochs.times)

    @property
    def epochs_planned(self) -> float | None:
        """How many epochs it will have at most."""
        return self.parameters.get("epochs")

    @property
    def epochs_done(self) -> float | None:
        """How many epochs are done, however its job counts them."""
        last = self.training.last_epoch
        return None if last is None else last + self.epochs.from_zero

    @property
    def share_done(self) -> float | None:
        """How much of its work is done, 0..1."""
        planned, done = self.epochs_planned, self.epochs_done
        return min(1.0, done / planned) if planned and done is not None else self.training.share_done

    @property
    def samples_per_epoch(self) -> float | None:
        """How large its data are, as its log counts them."""
        row = next((row for row in reversed(self.training.rows) if row.samples and row.epoch is not None), None)
        epochs = self.epochs
        done = 0.0 if row is None or row.epoch is None else row.epoch + epochs.from_zero - epochs.began_at
        return row.samples / done if row and row.samples and math.isfinite(done) and done > 0 else None

    def curve(self, quality: Quality) -> Points:
        """Epochs done and value of a quality of its model."""
        return self.training.curves.get(quality.name, ())

    @property
    def diverged(self) -> bool:
        """Whether its losses are no numbers any more."""
        logged = ((row.train_loss, row.val_loss) for row in self.training.rows)
        losses = [row for row in logged if row != (None, None)]
        train = [loss for loss, _ in losses if loss is not None]
        val = [loss for _, loss in losses if loss is not None]
        curves = {name: [value for _, value in curve] for name, curve in self.training.curves.items()}
        sampled = curves.pop(VAL_LOSS.name, [])
        return has_diverged(losses[-1] if losses else (None, None), train, val or sampled, curves.values())
