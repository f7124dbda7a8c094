"""DemandTable: what each task of a job needs of a node. A job starts with all of its tasks or not at all.

Elasticity: with how many tasks jobs can run, and how much faster more of them are, by Amdahl's law.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.workload.jobs import JobTable, Seconds, Whole

Amounts = NDArray[np.float64]
Phases = tuple[tuple[float, float], ...]
"""(seconds on the reference device, GB/s of each CPU core) pairs, seconds above 0, that a job goes through again and again."""
SERIAL_SHARE = 0.05
"""Of a job's work on one task, where neither job nor platform says: eight tasks are 5.9 times, 64 are 15 times as fast as one."""


@dataclass(frozen=True, slots=True)
class Elasticity:
    """One row per job, as in the JobTable; a job whose smallest and largest number of tasks are the same is rigid.

    `min_tasks`, `max_tasks`: with how many it can run; what it asks for lies between. `serial_shares`: of its work on one task
    that no further task makes faster, 0 to 1; NaN: as the platform says.
    """

    min_tasks: Whole
    max_tasks: Whole
    serial_shares: Amounts

    def __post_init__(self) -> None:
        if len({len(self.min_tasks), len(self.max_tasks), len(self.serial_shares)}) != 1:
            raise ValueError("columns of different lengths")
        if (self.min_tasks < 1).any() or (self.max_tasks < self.min_tasks).any():
            raise ValueError("a job can run with no task, or with fewer at most than at least")
        if ((self.serial_shares < 0) | (self.serial_shares > 1)).any():
            raise ValueError("a serial share is outside 0 to 1")

    def rows(self, which: slice | Whole | NDArray[np.bool_]) -> "Elasticity":
        return Elasticity(self.min_tasks[which], self.max_tasks[which], self.serial_shares[which])

    @property
    def resizable(self) -> NDArray[np.bool_]:
        """By job whether its number of tasks may change."""
        return self.max_tasks > self.min_tasks


@dataclass(frozen=True, slots=True)
class DemandTable:
    """One row per job, as in the JobTable.

    Attributes:
        tasks: how many; each lies on one node.
        cpus, gpus: of each task; one of them at least.
        memory_gib: of each task.
        bandwidth_gbps: memory bandwidth of each CPU core in GB/s.
        gpu_types: the type that the GPUs must be of; "": any.
        classes: the class of the model, for speeds; "": none in particular.
        deadlines: seconds after the submit by which a job should end; infinite where there is none.
        phases: of each job; without any it wants its bandwidth_gbps all the time. Empty: no job has phases.
        elasticity: with how many other tasks jobs can run; None: with none.
    """

    tasks: Whole
    cpus: Whole
    gpus: Whole
    memory_gib: Amounts
    bandwidth_gbps: Amounts
    gpu_types: tuple[str, ...]
    classes: tuple[str, ...]
    deadlines: Seconds
    phases: tuple[Phases, ...] = ()
    elasticity: Elasticity | None = None

    def __post_init__(self) -> None:
        columns = (self.tasks, self.cpus, self.gpus, self.memory_gib, self.bandwidth_gbps, self.deadlines)
        lengths = {*(len(column) for column in columns), len(self.gpu_types), len(self.classes), len(self.phases or self.classes)}
        if len(lengths) != 1:
            raise ValueError("columns of different lengths")
        if (self.tasks < 1).any() or (self.cpus < 0).any() or (self.gpus < 0).any() or (self.cpus + self.gpus < 1).any():
            raise ValueError("a job has no task, or a task that needs neither CPU nor GPU")
        if (self.memory_gib < 0).any() or (self.bandwidth_gbps < 0).any():
            raise ValueError("a task needs negative memory or bandwidth")
        if any(seconds <= 0 or gbps < 0 for phases in self.phases for seconds, gbps in phases):
            raise ValueError("a phase takes no time, or wants negative bandwidth")
        if (ranges := self.elasticity) is not None and (
            len(ranges.min_tasks) != len(self.tasks)
            or (self.tasks < ranges.min_tasks).any()
            or (self.tasks > ranges.max_tasks).any()
        ):
            raise ValueError("a job asks for other numbers of tasks than it can run with")

    def rows(self, which: slice | Whole | NDArray[np.bool_]) -> "DemandTable":
        places = np.arange(len(self.tasks))[which]
        return DemandTable(
            self.tasks[which],
            self.cpus[which],
            self.gpus[which],
            self.memory_gib[which],
            self.bandwidth_gbps[which],
            tuple(self.gpu_types[place] for place in places),
            tuple(self.classes[place] for place in places),
            self.deadlines[which],
            tuple(self.phases[place] for place in places) if self.phases else (),
            None if self.elasticity is None else self.elasticity.rows(which),
        )


def one_core_each(jobs: JobTable, memory_gib: Amounts | None = None, bandwidth_gbps: Amounts | None = None) -> DemandTable:
    """Each processor of a job as a task on one CPU core: what logs of equal processors say."""
    count = len(jobs)
    nothing = np.zeros(count)
    return DemandTable(
        jobs.processors,
        np.ones(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        nothing if memory_gib is None else memory_gib,
        nothing if bandwidth_gbps is None else bandwidth_gbps,
        ("",) * count,
        ("",) * count,
        np.full(count, np.inf),
    )


def speedup(tasks: Amounts | Whole, serial_shares: Amounts) -> Amounts:
    """How much faster a job is on so many tasks than on one: 1 / (s + (1 - s) / n), with s its serial share.

    Source: Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", AFIPS 1967.
    """
    return 1 / (serial_shares + (1 - serial_shares) / tasks)
