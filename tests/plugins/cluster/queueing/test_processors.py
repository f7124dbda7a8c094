"""Processors by hand: who ends when, and what a reservation leaves over."""

from __future__ import annotations

import numpy as np

from jpo.plugins.cluster.queueing.processors import ProcessorPool
from jpo.plugins.cluster.workload.jobs import JobTable


def test_ends_at_the_moment_of_the_reservation_are_left_over_too() -> None:
    column = np.array
    times, counts = column([10.0, 20.0, 20.0, 30.0]), column([1, 2, 3, 4])
    machine = ProcessorPool(JobTable(np.arange(4), np.zeros(4), times, times, counts, np.zeros(4, dtype=np.int64)), 11)
    for job in range(4):
        machine.begin(job, 0.0)
    assert (machine.free, machine.next_end()) == (1, 10.0)
    assert machine.reservation(3) == (20.0, 4)
