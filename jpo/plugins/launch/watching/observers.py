"""Observers: each looks at one run, in a CSV log, through the engine that JPO launched it on, or in Prometheus."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jpo.errors import LaunchError, TelemetryError
from jpo.forecast.curves.curve import onward
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import TAKEN, Entry, read
from jpo.plugins.launch.lifecycle import GIVE_UP_SECONDS, UNREACHABLE
from jpo.plugins.launch.project.accounts import looked_at
from jpo.plugins.launch.project.finished import logs_of, names_another
from jpo.plugins.launch.watching.sampled_progress import NOTHING, SampledProgress, read_progress
from jpo.plugins.launch.watching.seen import ResourcesInUse, RunTimes, SeenRun, TrainingLog
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history
from jpo.project.running import running_now
from jpo.project.sources import names_of, own_names, prometheus_of
from jpo.records import Identity, Parameters, Running, RunStatus
from jpo.telemetry.csv.follow import LogRow, Tail
from jpo.telemetry.outcome import NoEvidence, Own, configuration, own_values

CSV, PROMETHEUS = "csv", "prometheus"
"""Sources of runs that JPO did not launch; of one that it did, the source is the engine."""


class LogObserver:
    """Observer of a CSV log that may still be written."""

    def __init__(self, path: Path, own: Own) -> None:
        self.path, self._own = path, own
        self._tail = Tail(path, own)
        self._rows: list[LogRow] = []

    def observe(self, now: float) -> SeenRun | None:
        """The run of the log; None while there is none, or its head is not whole. TelemetryError JPO-E110: it is no log."""
        while (update := self._tail.poll()).bytes_read:
            if update.change:
                self._rows.clear()
            self._rows += update.rows
        log = self._tail.log
        if not {"run_id", "dataset", "model", "framework"} <= log.head.keys():
            return None
        at, written = now, self._tail.modified_at
        if log.silent(now) and written is not None and written <= now <= written + log.longest_silence_seconds:
            at = now - (written - log.latest["time"])  # its clock is slow: it has just written
        silent, start, said = log.silent(at), log.number("start"), log.head.get("status", "")
        newest, before = (self._rows[-1], self._rows[-2]) if len(self._rows) > 1 else (None, None)
        return SeenRun(
            log.run_id,
            log.identity,
            _parameters(log.head, self._own),
            CSV,
            JobState.ENDED if log.closed or silent else JobState.RUNNING,
            at,
            f"it wrote nothing for {now - log.latest['time']:.0f} s" if silent and not log.closed else "",
            status=RunStatus(said) if said in set(RunStatus) else None,
            times=RunTimes(
                started_at=start or (self._rows[0].time if self._rows else None),
                ended_at=log.number("end") if log.closed else log.latest.get("time") if silent else None,
            ),
            training=TrainingLog(
                last_epoch=_count(log.latest.get("epoch")),
                samples_per_second=newest.samples_per_second(before) if newest and before else None,
                rows=tuple(self._rows),
                curves={name: tuple(onward(_counted(curve))) for name, curve in log.curves.items()},
            ),
        )

    def close(self) -> None:
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
    """Observer of a run that JPO launched: its engine, its log where the engine shares files, else Prometheus."""

    def __init__(self, entry: Entry, launcher: Launcher, ledger: Path, settings: LoadedSettings) -> None:
        self._entry, self._launcher, self._ledger = entry, launcher, ledger
        self._own, self._samples = own_names(settings), _Samples(settings)
        self._log: LogObserver | None = None

    def observe(self, now: float) -> SeenRun:
        """The run as it is now; an engine that cannot be reached is said in words, and asked again at the next look.

        Raises LaunchError: the engine's, but for JPO-E754.
        """
        entry = read(self._ledger, self._entry.job.run_id) or self._entry
        status = _status(entry, self._launcher, self._ledger)
        job = entry.job
        seen = self._logged(now) or (None if status.over else self._measured())
        seen = seen or SeenRun(job.run_id, job.identity, job.parameters, entry.engine, status.state, now)
        times, use = seen.times, seen.use
        return replace(
            seen,
            run_id=job.run_id,
            identity=seen.identity if job.identity.includes(seen.identity) else job.identity,
            source=entry.engine,
            state=status.state,
            words=status.reason or seen.words or names_another(seen.run_id, seen.identity, entry),
            place=status.place,
            parameters={**job.parameters, **seen.parameters},
            status=status.ended_as or (seen.status if status.over else None),
            times=replace(
                times,
                started_at=status.started_at if times.started_at is None else times.started_at,
                starts_at=status.starts_at,
                ended_at=(status.ended_at or times.ended_at) if status.over else None,
            ),
            use=replace(
                use,
                busy_cpus=use.busy_cpus if status.busy_cpus is None else status.busy_cpus,
                memory_gib=status.memory_gib if use.memory_gib is None else use.memory_gib,
            ),
        )

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def _measured(self) -> SeenRun | None:
        """What Prometheus knows of it; nothing where the server does not answer: the engine says that the run goes on."""
        try:
            return self._samples.observe(self._entry.job.run_id, self._entry.job.identity)
        except TelemetryError:
            return None

    def _logged(self, now: float) -> SeenRun | None:
        path = next(logs_of(self._entry, self._ledger), None)
        if path is None:
            return None
        if self._log is None or self._log.path != path:
            self.close()
            self._log = LogObserver(path, self._own)
        try:
            return self._log.observe(now)
        except TelemetryError:  # whoever records the run says what is wrong with it
            return None


def _status(entry: Entry, launcher: Launcher, ledger: Path) -> JobStatus:
    if entry.end is not None:
        return entry.end
    try:
        _, status = looked_at(entry, launcher, ledger)
        lost = "it was not submitted, or the process that submitted it was killed: start it again"
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
        self._samples, self._newest, self._answered_at = _Samples(settings), _as_measured(run, NOTHING), -math.inf

    def observe(self, now: float) -> SeenRun:
        """The run as the server knows it; one that it no longer names has ended. A server that answered before is asked again.

        Raises TelemetryError: JPO-E101 to E109, E113.
        """
        try:
            found = self._samples.observe(self._newest.run_id, self._newest.identity)
        except TelemetryError as error:
            if now - self._answered_at > GIVE_UP_SECONDS:
                raise
            return replace(self._newest, words=error.in_short)
        self._answered_at = now
        if found is None:
            last, words = self._newest, "Prometheus no longer shows it running"
            return replace(last, state=JobState.ENDED, at=now, times=replace(last.times, ended_at=last.at), words=words)
        self._newest = found
        return found


class _Samples:
    """What the server that settings name has of one run: its epochs and learning curve are read once."""

    def __init__(self, settings: LoadedSettings) -> None:
        self._settings, self._progress = settings, NOTHING

    def observe(self, run_id: str, identity: Identity) -> SeenRun | None:
        """The run as the server knows it; None: there is no server, or it does not."""
        server = prometheus_of(self._settings)
        if server is None:
            return None
        with open_history(self._settings) as store:
            run = next((run for run in running_now(server, identity, self._settings, store) if run.run_id == run_id), None)
        if run is None:
            return None
        if run.started_at is not None and run.epochs_done is not None:  # else it does not report itself
            names = names_of(self._settings)
            self._progress = read_progress(server, run.identity, run_id, run.started_at, names=names, known=self._progress)
        return _as_measured(run, self._progress)


def _as_measured(run: Running, progress: SampledProgress) -> SeenRun:
    words = "it has reported nothing for minutes" if run.silent else ""
    idle = run.gpu_utilisation is not None and run.gpu_utilisation < 0.01
    gpus = 0.0 if idle else run.parameters.get("gpus") if run.gpu_utilisation is not None else None
    rows = tuple(LogRow(time, epoch) for time, epoch in progress.epochs)
    return SeenRun(
        run.run_id,
        run.identity,
        run.parameters,
        PROMETHEUS,
        JobState.RUNNING,
        run.seen_at,
        words,
        times=RunTimes(run.started_at),
        training=TrainingLog(run.epochs_done, run.share_done, run.samples_per_second, rows, progress.curves),
        use=ResourcesInUse(run.cpu_cores, gpus, run.memory_gib),
    )
