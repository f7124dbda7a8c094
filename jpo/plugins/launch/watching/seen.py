"""A run as it is now: what its engine, its log and Prometheus show of it, each where it is there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from jpo.errors import LaunchError, TelemetryError
from jpo.forecast.curves.epochs import EpochProgress, epoch_progress, onward
from jpo.plugins.launch.during.divergence import has_diverged
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import TAKEN, Entry, read
from jpo.plugins.launch.lifecycle import GIVE_UP_SECONDS, UNREACHABLE
from jpo.plugins.launch.project.accounts import looked_at
from jpo.plugins.launch.project.finished import logs_of
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history
from jpo.project.sources import names_of, own_names, prometheus_of, running_now
from jpo.records import VAL_LOSS, Identity, Parameters, Quality, Running, RunStatus
from jpo.telemetry.csv.follow import LogRow, Tail
from jpo.telemetry.outcome import NoEvidence, Own, configuration, own_values
from jpo.telemetry.running.sampled_progress import NOTHING, SampledProgress, read_progress

CSV, PROMETHEUS = "csv", "prometheus"
"""Where a run is seen that JPO did not launch; of one that it did, the engine's name stands there."""


@dataclass(frozen=True, slots=True)
class SeenRun:
    """A run as it is now. None: not known.

    Attributes:
        source: name of its engine, CSV or PROMETHEUS.
        words: of its engine: why it waits, how it ended; or what is amiss with its log.
        at: unix seconds of this look.
        rows: of its log, in order.
        curves: by quality of the model, epochs done and value.
        busy_cpus, memory_gib, busy_gpus: over the last minutes, memory the highest.
        cpu_seconds: CPU time of all its processes so far.
        trains_since: unix seconds at which its log says that training began; without a log `started_at` counts imports, too.
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
    started_at: float | None = None
    starts_at: float | None = None
    ended_at: float | None = None
    epochs_done: float | None = None
    samples_per_second: float | None = None
    rows: tuple[LogRow, ...] = ()
    curves: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    busy_cpus: float | None = None
    cpu_seconds: float | None = None
    memory_gib: float | None = None
    busy_gpus: float | None = None
    share_done: float | None = None
    trains_since: float | None = None

    @property
    def over(self) -> bool:
        """Whether nothing of it will change any more."""
        return self.state in (JobState.ENDED, JobState.UNKNOWN)

    @property
    def elapsed_seconds(self) -> float | None:
        """Since its start, until now or its end; its last row was not written later than now, whatever its clock says."""
        newest = next((row.time for row in reversed(self.rows) if row.time is not None), self.at)
        return None if self.started_at is None else max(0.0, (self.ended_at or max(self.at, newest)) - self.started_at)

    @property
    def epochs(self) -> EpochProgress:
        """When its epochs were done."""
        start = self.started_at
        times = ((row.epoch, row.time, row.samples) for row in self.rows if row.epoch is not None)
        return epoch_progress([(epoch, time - start, samples) for epoch, time, samples in times if time and start is not None])

    @property
    def samples_per_epoch(self) -> float | None:
        """How large its data are, as its log counts them."""
        row = next((row for row in reversed(self.rows) if row.samples and row.epoch is not None), None)
        progress = self.epochs
        done = 0.0 if row is None or row.epoch is None else row.epoch + progress.from_zero - progress.began_at
        return row.samples / done if row and row.samples and math.isfinite(done) and done > 0 else None

    def curve(self, quality: Quality) -> tuple[tuple[float, float], ...]:
        """Epochs done and value of a quality of its model."""
        return self.curves.get(quality.name, ())

    @property
    def diverged(self) -> bool:
        """Whether its losses are no numbers any more."""
        losses = [(row.train_loss, row.val_loss) for row in self.rows if row.train_loss is not None or row.val_loss is not None]
        train = [loss for loss, _ in losses if loss is not None]
        val = [loss for _, loss in losses if loss is not None]
        curves = {name: [value for _, value in curve] for name, curve in self.curves.items()}
        sampled = curves.pop(VAL_LOSS.name, [])
        return has_diverged(losses[-1] if losses else (None, None), train, val or sampled, curves.values())


class LogObserver:
    """Observer of a CSV log that may still be written; a context manager that closes it."""

    def __init__(self, path: Path, own: Own) -> None:
        self.path, self._own = path, own
        self._tail = Tail(path, own)
        self._rows: list[LogRow] = []

    def look(self, now: float) -> SeenRun | None:
        """The run of the log; None while there is none, or its head is not whole.

        Raises:
            TelemetryError: JPO-E110, it is no log.
        """
        while (update := self._tail.poll()).bytes_read:
            if update.change:
                self._rows.clear()
            self._rows += update.rows
        log = self._tail.log
        if not {"run_id", "dataset", "model", "framework"} <= log.head.keys():
            return None
        at, written = now, self._tail.modified_at
        if log.silent(now) and written is not None and written <= now <= written + log.patience_seconds:
            at = now - (written - log.latest["time"])  # its clock is slow: it has just written
        silent = log.silent(at)
        state = JobState.ENDED if log.closed or silent else JobState.RUNNING
        words = f"it wrote nothing for {now - log.latest['time']:.0f} s" if silent and not log.closed else ""
        said = log.head.get("status", "")
        newest, before = (self._rows[-1], self._rows[-2]) if len(self._rows) > 1 else (None, None)
        return SeenRun(
            log.run_id,
            log.identity,
            _parameters(log.head, self._own),
            CSV,
            state,
            at,
            words,
            status=RunStatus(said) if said in set(RunStatus) else None,
            trains_since=log.number("start"),
            started_at=log.number("start") or (self._rows[0].time if self._rows else None),
            ended_at=log.number("end") if log.closed else log.latest.get("time") if silent else None,
            epochs_done=_count(log.latest.get("epoch")),
            samples_per_second=newest.samples_per_second(before) if newest and before else None,
            rows=tuple(self._rows),
            curves={name: tuple(onward(_counted(curve))) for name, curve in log.curves.items()},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tail.close()


def _count(epochs: float | None) -> float | None:
    """A number of epochs; None where it can be none."""
    return epochs if epochs is not None and math.isfinite(epochs) and epochs >= 0 else None


def _counted(curve: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    return ((epoch, value) for epoch, value in curve if _count(epoch) is not None)


def _parameters(head: Mapping[str, str], own: Own) -> Parameters:
    try:
        return {**configuration(head), **own_values(head, own.parameters)}
    except NoEvidence:  # it will be said once it is over
        return {}


class LaunchObserver:
    """Observer of a run that JPO launched: its engine, its log where the engine shares files, else Prometheus.

    A context manager that closes the log.
    """

    def __init__(self, entry: Entry, launcher: Launcher, ledger: Path, settings: LoadedSettings) -> None:
        self._entry, self._launcher, self._ledger = entry, launcher, ledger
        self._settings = settings
        self._log: LogObserver | None = None
        self._progress = NOTHING

    def look(self, now: float) -> SeenRun:
        """The run as it is now; an engine that cannot be reached is said in words, and asked again at the next look.

        Raises:
            LaunchError: the engine's, but for JPO-E754.
        """
        entry = read(self._ledger, self._entry.job.run_id) or self._entry
        status = _status(entry, self._launcher, self._ledger)
        job = entry.job
        seen = SeenRun(job.run_id, job.identity, job.parameters, entry.engine, status.state, now, status.reason, status.place)
        logged = self._logged(now)
        if logged is None and not seen.over:
            logged = self._measured(job.run_id, job.identity)
        if logged is not None:
            words = seen.words or logged.words
            seen = replace(logged, source=entry.engine, state=seen.state, words=words, place=seen.place)
        return replace(
            seen,
            parameters={**job.parameters, **seen.parameters},
            status=status.ended_as or (seen.status if status.over else None),
            started_at=seen.started_at if seen.started_at is not None else status.started_at,
            starts_at=status.starts_at,
            ended_at=(status.ended_at or seen.ended_at) if status.over else None,
            cpu_seconds=status.cpu_seconds,
            memory_gib=seen.memory_gib if seen.memory_gib is not None else status.memory_gib,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._log is not None:
            self._log.__exit__()

    def _measured(self, run_id: str, identity: Identity) -> SeenRun | None:
        """What Prometheus knows of it; nothing where the server does not answer: the engine says that the run goes on."""
        try:
            measured = _find_in_prometheus(run_id, identity, self._settings)
            if measured is None:
                return None
            self._progress = _progress(measured, self._settings, self._progress)
        except TelemetryError:
            return None
        return _as_measured(measured, self._progress)

    def _logged(self, now: float) -> SeenRun | None:
        path = next(logs_of(self._entry, self._ledger), None)
        if path is None:
            return None
        if self._log is not None and self._log.path != path:
            self._log.__exit__()
        if self._log is None or self._log.path != path:
            self._log = LogObserver(path, own_names(self._settings))
        try:
            return self._log.look(now)
        except TelemetryError:  # whoever records the run says what is wrong with it
            return None


def _status(entry: Entry, launcher: Launcher, ledger: Path) -> JobStatus:
    if entry.end is not None:
        return entry.end
    try:
        _, status = looked_at(entry, launcher, ledger)
        lost = "it was not submitted, or whoever submitted it was killed: start it again"
        return status or JobStatus(JobState.WAITING, reason=lost)
    except LaunchError as error:
        if error.code == TAKEN:
            return JobStatus(JobState.WAITING, reason="it is being started")
        if error.code != UNREACHABLE:
            raise
        return JobStatus(JobState.RUNNING, reason=error.in_short)


class PrometheusObserver:
    """Observer of a run that Prometheus says is going on."""

    def __init__(self, run: Running, settings: LoadedSettings) -> None:
        self._run, self._settings = run, settings
        self._progress, self._answered_at = NOTHING, -math.inf

    def look(self, now: float) -> SeenRun:
        """The run as the server knows it; one that it no longer names has ended. A server that answered before is asked again.

        Raises:
            TelemetryError: JPO-E101 to E109, E113.
        """
        try:
            found = _find_in_prometheus(self._run.run_id, self._run.identity, self._settings)
            progress = self._progress if found is None else _progress(found, self._settings, self._progress)
        except TelemetryError as error:
            if now - self._answered_at > GIVE_UP_SECONDS:
                raise
            return replace(_as_measured(self._run, self._progress), words=error.in_short)
        self._answered_at = now
        if found is None:
            ended = replace(_as_measured(self._run, self._progress), state=JobState.ENDED, at=now, ended_at=self._run.seen_at)
            return replace(ended, words="Prometheus no longer says that it goes on")
        self._run, self._progress = found, progress
        return _as_measured(found, self._progress)


def _progress(run: Running, settings: LoadedSettings, known: SampledProgress) -> SampledProgress:
    """Its epochs and learning curve so far; of a run that does not report itself there are none."""
    server = prometheus_of(settings)
    if server is None or run.started_at is None or run.epochs_done is None:
        return known
    return read_progress(server, run.identity, run.run_id, run.started_at, names=names_of(settings), known=known)


def _find_in_prometheus(run_id: str, identity: Identity, settings: LoadedSettings) -> Running | None:
    """The run as the server that settings name knows it; None: there is no server, or it does not."""
    server = prometheus_of(settings)
    if server is None:
        return None
    with open_history(settings) as store:
        return next((run for run in running_now(server, identity, settings, store) if run.run_id == run_id), None)


def _as_measured(run: Running, progress: SampledProgress) -> SeenRun:
    words = "it has reported nothing for minutes" if run.silent else ""
    idle = run.gpu_utilisation is not None and run.gpu_utilisation < 0.01
    return SeenRun(
        run.run_id,
        run.identity,
        run.parameters,
        PROMETHEUS,
        JobState.RUNNING,
        run.seen_at,
        words,
        started_at=run.started_at,
        epochs_done=run.epochs_done,
        samples_per_second=run.samples_per_second,
        rows=tuple(LogRow(time, epoch) for time, epoch in progress.epochs),
        curves=progress.curves,
        busy_cpus=run.cpu_cores,
        memory_gib=run.memory_gib,
        busy_gpus=0.0 if idle else run.parameters.get("gpus") if run.gpu_utilisation is not None else None,
        share_done=run.share_done,
    )
