"""An engine in virtual time: a job waits, runs and ends when the clock of its caller says so. Nothing is executed, and its log
grows as time passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from jpo.errors import LaunchError
from jpo.files import whole
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs, Room
from jpo.records import RunStatus


@dataclass(frozen=True, slots=True)
class VirtualRun:
    """What becomes of one job: how long it waits and runs (seconds), how it ends, and its run log (CSV), if it writes one."""

    run_seconds: float
    wait_seconds: float = 0.0
    ended_as: RunStatus = RunStatus.SUCCEEDED
    log: str = ""
    output: str = ""


class SimulatedLauncher:
    """Launcher of simulated jobs.

    Args:
        simulate: what becomes of a job, given its start in unix seconds; called once for each.
        clock: unix seconds; whoever sleeps sets it forward.
        gpus: those of the machine that is played.
    """

    name = "simulated"

    def __init__(self, simulate: Callable[[LaunchJob, float], VirtualRun], clock: Callable[[], float], gpus: int = 8) -> None:
        self._simulate, self._clock, self._gpus = simulate, clock, gpus
        self._jobs = dict[str, tuple[LaunchJob, float, VirtualRun]]()
        self._folders = dict[str, Path]()
        self._cancelled = dict[str, float]()

    def room(self, needs: Needs) -> Room:
        free = self._gpus - sum(job.needs.gpus for name, (job, *_) in self._jobs.items() if not self.status(name).over)
        return Room(gpus=self._gpus, free_gpus=free, wait_seconds=0.0 if needs.gpus <= free else None)

    def refuse(self, job: LaunchJob) -> None:
        if job.needs.gpus > self._gpus:
            finding = f"asks for {job.needs.gpus} GPUs, and there are {self._gpus}"
            raise LaunchError(f"run {job.run_id}", finding, f"ask for at most {self._gpus}", code="JPO-E755")

    def submit(self, job: LaunchJob, folder: Path) -> str:
        if job.run_id not in self._jobs:
            now = self._clock()
            simulation = self._simulate(job, now)
            longest = job.longest_seconds
            if longest is not None and simulation.run_seconds > longest:
                log = stopped_at(simulation.log, now + simulation.wait_seconds + longest)
                simulation = replace(simulation, run_seconds=longest, ended_as=RunStatus.STOPPED, log=log)
            self._jobs[job.run_id] = (job, now, simulation)
            self._folders[job.run_id] = folder
        return job.run_id

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        return job.run_id if job.run_id in self._jobs else None

    def status(self, engine_id: str) -> JobStatus:
        if engine_id not in self._jobs:
            return JobStatus(JobState.UNKNOWN, reason="the simulation knows no such job")
        _, submitted, simulation = self._jobs[engine_id]
        started, now = submitted + simulation.wait_seconds, self._clock()
        ended, cancelled = started + simulation.run_seconds, self._cancelled.get(engine_id)
        if cancelled is not None and cancelled < ended:
            began = None if cancelled < started else started
            return JobStatus(JobState.ENDED, ended_as=RunStatus.STOPPED, reason="cancelled", started_at=began, ended_at=cancelled)
        if now < started:
            return JobStatus(JobState.WAITING, starts_at=started)
        if now < ended:
            self._write_log(engine_id, until(simulation.log, now))
            return JobStatus(JobState.RUNNING, started_at=started)
        code = 0 if simulation.ended_as is RunStatus.SUCCEEDED else 1
        return JobStatus(JobState.ENDED, code, simulation.ended_as, started_at=started, ended_at=ended)

    def cancel(self, engine_id: str) -> None:
        if not self.status(engine_id).over:
            now = self._cancelled[engine_id] = self._clock()
            self._write_log(engine_id, stopped_at(self._jobs[engine_id][2].log, now))

    def collect(self, engine_id: str, folder: Path) -> None:
        if engine_id in self._jobs and engine_id not in self._cancelled:
            _, _, simulation = self._jobs[engine_id]
            texts = {folder / "output.log": simulation.output, folder / "runs" / f"{engine_id}.csv": simulation.log}
            for file, text in texts.items():
                with whole(file, mode=0o600) as new:
                    new.write(text.encode())

    def _write_log(self, engine_id: str, log: str) -> None:
        path = self._folders[engine_id] / "runs" / f"{engine_id}.csv"
        if log and not (path.exists() and path.stat().st_size == len(log.encode())):
            with whole(path, mode=0o600) as new:
                new.write(log.encode())


def until(log: str, moment: float) -> str:
    """What a log held at a moment, unix seconds; "": nothing yet."""
    lines = list[str]()
    for line in log.splitlines(keepends=True):
        first = line.split(",", 1)[0]
        if line.startswith("# start=") and float(line.split("=", 1)[1]) > moment:
            return ""  # it imports its libraries
        if line.startswith("#"):
            if any(not each.startswith("#") for each in lines):
                break  # how it ended
        elif first != "time" and float(first) > moment:
            break
        lines.append(line)
    return "".join(lines) if any(not line.startswith("#") for line in lines) else ""


def stopped_at(log: str, moment: float) -> str:
    """What a log holds of a run that was stopped then, with its end; "": nothing was written yet."""
    known = until(log, moment)
    return f"{known}# end={moment}\n# status={RunStatus.STOPPED}\n" if known else ""
