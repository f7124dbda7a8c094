"""Machine on which JPO runs: all that one process could use of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jpo.inventory.cgroup import cpus_here, memory_here
from jpo.inventory.gpus import Gpu, detect_gpus


@dataclass(frozen=True, slots=True)
class Machine:
    """Resources that a process here may use.

    Attributes:
        gpus: None where unknown; () where there is none.
        why_gpus: why they are unknown, none, or not all.
        cpus: may be a fraction.
        cpus_there: how many the machine has.
        cpus_held_by: what keeps `cpus` below that: "cgroup quota", "affinity" or "".
        memory_gib, memory_there_gib: to use, and of the machine; None: unknown.
    """

    gpus: tuple[Gpu, ...] | None
    why_gpus: str
    cpus: float
    cpus_there: int
    cpus_held_by: str
    memory_gib: float | None
    memory_there_gib: float | None

    @property
    def most(self) -> dict[str, float]:
        """The most that one run could have here, by the name of the parameter; what is unknown is missing."""
        most = {"gpus": None if self.gpus is None else float(len(self.gpus)), "cpus": self.cpus, "memory_gib": self.memory_gib}
        return {name: value for name, value in most.items() if value is not None}


def machine_here(
    environ: Mapping[str, str],
    *,
    proc: Path = Path("/proc"),
    cgroup: Path = Path("/sys/fs/cgroup"),
    dev: Path = Path("/dev"),
) -> Machine:
    """The machine as it is now."""
    gpus, why = detect_gpus(environ, dev=dev)
    return Machine(gpus, why, *cpus_here(proc, cgroup), *memory_here(proc, cgroup))
