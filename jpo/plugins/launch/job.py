"""Jobs as engines know them: what is to be started, how it goes, and how much room there is."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from jpo.records import Identity, Parameters, RunStatus

RUN_ID = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
"""Ids that are a file name, a label of Kubernetes, a job name of SLURM and a tag of AWS alike."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Resources that a job asks for. None: it does not say, and the engine's default applies.

    Attributes:
        gpus: over all nodes.
        gpu_type: in one word as the engine calls it, e.g. "a100".
        cpus, memory_gib: over all nodes.
        nodes: machines over which its processes are spread evenly.
    """

    gpus: int = 0
    gpu_type: str | None = None
    cpus: float | None = None
    memory_gib: float | None = None
    nodes: int = 1

    def __post_init__(self) -> None:
        if self.gpus < 0 or self.nodes < 1 or (self.nodes > 1 and self.gpus % self.nodes):
            raise ValueError(f"{self.gpus} GPUs cannot be spread evenly over {self.nodes} nodes")
        for name, value in (("cpus", self.cpus), ("memory_gib", self.memory_gib)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} = {value} is not an amount that can be requested")


@dataclass(frozen=True, slots=True)
class LaunchJob:
    """One run that is to be started.

    Attributes:
        run_id: its name everywhere, RUN_ID; the same id is never started twice.
        command: program and arguments; never a shell's text.
        folder: absolute; where it starts.
        environment: variables for it on top of what the engine gives every job; no secrets.
        parameters: what config.ini gives it.
        longest_seconds: after which it is ended; None: never.
    """

    run_id: str
    identity: Identity
    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    needs: Needs = Needs()
    parameters: Parameters = field(default_factory=dict)
    longest_seconds: float | None = None

    def __post_init__(self) -> None:
        if not RUN_ID.fullmatch(self.run_id):
            raise ValueError(
                f"run id {self.run_id!r:.80} is not made of 1 to 63 of A-Z a-z 0-9 . _ -, a letter or digit at either end"
            )
        if not self.command or any("\0" in text for text in (*self.command, *self.environment.values())):
            raise ValueError("a command is a program and its arguments, without NUL")
        if not self.folder.is_absolute():
            raise ValueError(f"{self.folder} is not absolute")
        if self.longest_seconds is not None and not self.longest_seconds > 0:
            raise ValueError(f"longest_seconds = {self.longest_seconds} leaves no time to run")

    @property
    def config_ini(self) -> str:
        """The path of its config.ini here, there or not."""
        return self.environment.get("JPO_CONFIG", str(self.folder / "config.ini"))


class JobState(StrEnum):
    """Where a submitted job is."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    UNKNOWN = "unknown"
    """The engine does not know the job (any more): nobody will say how it ended."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """How a submitted job goes, as its engine says it.

    Attributes:
        exit_code: of its first process; None: not ended, ended by a signal, or not known.
        ended_as: of a job that ended, how, as far as the engine can tell; its own log may know better (diverged).
        reason: why it waits or how it ended, in the engine's own words; may be empty.
        place: node, pod or instance on which it runs.
        started_at, ended_at, starts_at: unix seconds; `starts_at` is when the engine expects a waiting job to start.
        memory_gib: highest resident memory, cpu_seconds: CPU time; of all its processes. None: not measured.
        busy_cpus: the most that it used, or waited for, in the last seconds while it runs.
    """

    state: JobState
    exit_code: int | None = None
    ended_as: RunStatus | None = None
    reason: str = ""
    place: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    starts_at: float | None = None
    memory_gib: float | None = None
    cpu_seconds: float | None = None
    busy_cpus: float | None = None

    @property
    def over(self) -> bool:
        """Whether nothing of it will change any more."""
        return self.state in (JobState.ENDED, JobState.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Room:
    """Room on an engine now, as far as it says. None: not known.

    Attributes:
        gpus, cpus, memory_gib: all that one run of as many nodes could have at most.
        free_gpus, free_cpus, free_memory_gib: not in use now, on the whole engine.
        wait_seconds: how long a run that asks for what config.ini asks would wait before it starts.
        note: what limits it, in the engine's words ("quota of namespace ml: 4 GPUs").
    """

    gpus: float | None = None
    cpus: float | None = None
    memory_gib: float | None = None
    free_gpus: float | None = None
    free_cpus: float | None = None
    free_memory_gib: float | None = None
    wait_seconds: float | None = None
    note: str = ""
