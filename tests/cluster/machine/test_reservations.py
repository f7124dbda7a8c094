"""Reservations on a platform by hand: 2 fast GPUs and 2 slow ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jpo.cluster.machine.discipline import Discipline, run
from jpo.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType
from jpo.cluster.queueing.selection import selection
from jpo.cluster.workload.demand import one_core_each
from jpo.cluster.workload.jobs import JobTable

FAST = NodeType("fast", (ProcessorType("f", "gpu", 2, 2.0),))
SLOW = NodeType("slow", (ProcessorType("s", "gpu", 2, 1.0),))
PLATFORM = Platform("p", (NodeGroup("c", FAST, 1), NodeGroup("c", SLOW, 1)))


def test_each_job_is_promised_particular_gpus_for_as_long_as_it_takes_there() -> None:
    """A and B hold all 4 until 10 and 20; C needs 2 fast ones; D needs 2 of any kind and would delay C on the fast ones."""
    column = np.array
    run_seconds = column([20.0, 20.0, 20.0, 30.0])
    jobs = JobTable(column([1, 2, 3, 4]), column([0.0, 0, 1, 2]), run_seconds, run_seconds, column([2, 2, 2, 2]), column([0] * 4))
    demand = replace(
        one_core_each(jobs), tasks=column([1] * 4), cpus=column([0] * 4), gpus=column([2] * 4), gpu_types=("f", "s", "f", "")
    )
    schedule = run(jobs, demand, PLATFORM, Discipline(selection("fcfs", seed=0), "first", "conservative"))
    assert schedule.starts.tolist() == [
        0,
        0,
        10,
        20,
    ]  # A runs at speed 2; D: on the fast ones from 20 as well, the first that fit
    assert schedule.ends.tolist() == [10, 20, 20, 35]
