"""Job selection: in which order waiting jobs are looked at. A policy is a function `key(job, now)`; the smallest goes first.

`job` has the columns of Waiting, of all jobs that are asked about at once; a key is an array of the same length. Ties go by
submit time, then id. Keys know what was requested, never the true run time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable, Seconds, Whole

SMALLEST_LOG = 1e-9
"""log2(1) is 0 and would divide by zero. Serial jobs go first under UNICEP, among each other by wait / requested."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a key may look at, as columns; memory and bandwidth of each task, 0 where nothing is known of it."""

    submit_seconds: Seconds
    requested_seconds: Seconds
    processors: Whole
    memory_gib: Seconds
    bandwidth_gbps: Seconds


def waiting_rows(jobs: JobTable, rows: Whole | slice = slice(None), demand: DemandTable | None = None) -> Waiting:
    """What a key sees of these jobs. `demand`: of all jobs; None: only keys that change with time look, or nothing is known."""
    submit = jobs.submit_seconds[rows]
    memory, bandwidth = (demand.memory_gib[rows], demand.bandwidth_gbps[rows]) if demand else (np.zeros(len(submit)),) * 2
    return Waiting(submit, jobs.requested_seconds[rows], jobs.processors[rows], memory, bandwidth)


Key = Callable[[Waiting, float], Seconds]


def wfp3(job: Waiting, now: float) -> Seconds:
    """-(wait / r)^3 n: who has waited long for what they asked.

    Source: Tang et al., "Fault-aware, Utility-based Job Scheduling on Blue Gene/P Systems", Cluster 2009; UNICEP as well.
    """
    ratio = (now - job.submit_seconds) / job.requested_seconds
    return -ratio * ratio * ratio * job.processors


def unicep(job: Waiting, now: float) -> Seconds:
    """-wait / (log2(n) r)."""
    return (job.submit_seconds - now) / (_log_size(job) * job.requested_seconds)


def _log_size(job: Waiting) -> Seconds:
    return np.maximum(np.log2(job.processors), SMALLEST_LOG)


def _log_submit(job: Waiting) -> Seconds:
    return np.log10(np.maximum(job.submit_seconds, 1.0))


@dataclass(frozen=True, slots=True)
class JobSelection:
    """A policy by its name.

    `timed`: whether the key of a waiting job changes with time. `slope`: of a timed key that orders jobs as -slope x wait does;
    None: there is no such number.
    """

    name: str
    key: Key
    timed: bool = False
    slope: Callable[[Waiting], Seconds] | None = None


STEADY: Mapping[str, Key] = {
    "fcfs": lambda job, now: job.submit_seconds,
    "sjf": lambda job, now: job.requested_seconds,
    "ljf": lambda job, now: -job.requested_seconds,
    "saf": lambda job, now: job.requested_seconds * job.processors,  # smallest area
    "smallest": lambda job, now: job.processors.astype(np.float64),
    "low_mem": lambda job, now: job.memory_gib,  # as fcfs where the workload says nothing of it, and so the next one
    "low_mem_bw": lambda job, now: job.bandwidth_gbps,
    "f1": lambda job, now: np.log10(job.requested_seconds) * job.processors + 870 * _log_submit(job),
    "f2": lambda job, now: np.sqrt(job.requested_seconds) * job.processors + 25_600 * _log_submit(job),
    "f3": lambda job, now: job.requested_seconds * job.processors + 6_860_000 * _log_submit(job),
    "f4": lambda job, now: job.requested_seconds * np.sqrt(job.processors) + 530_000 * _log_submit(job),
}
"""Keys that do not change with time.

Source of F1 to F4: Carastan-Santos, de Camargo, "Obtaining Dynamic Scheduling Policies with Simulation and Machine Learning", SC
2017, table 3; submit times of 1 s at least.
"""
SELECTIONS: Mapping[str, JobSelection] = {
    **{name: JobSelection(name, key) for name, key in STEADY.items()},
    "wfp3": JobSelection("wfp3", wfp3, timed=True, slope=lambda job: np.cbrt(job.processors) / job.requested_seconds),
    "unicep": JobSelection("unicep", unicep, timed=True, slope=lambda job: 1 / (_log_size(job) * job.requested_seconds)),
}
"""Every policy but `random`, which needs a seed."""
RANDOM = "random"
NAMES = (*SELECTIONS, RANDOM)


def selection(name: str, *, seed: int) -> JobSelection:
    """The policy of a name; `random` gives each job a lot as it comes, from `seed`. KeyError: there is none."""
    if name != RANDOM:
        return SELECTIONS[name]
    return JobSelection(RANDOM, lambda job, now: np.random.default_rng(seed).random(len(job.submit_seconds)))


def ranked(keys: Seconds) -> tuple[Whole, list[int]]:
    """The jobs in the order of their keys, and the rank of each there."""
    order = np.argsort(keys, kind="stable")
    return order, np.argsort(order, kind="stable").tolist()
