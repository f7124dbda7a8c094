"""Keys that change: the one who waited long overtakes."""

from __future__ import annotations

import numpy as np

from jpo.plugins.cluster.queueing.selection import SELECTIONS
from jpo.plugins.cluster.queueing.timed import ProcessorPool, timed
from jpo.plugins.cluster.workload.jobs import JobTable


def test_of_two_that_wait_the_one_goes_first_whose_wait_is_longer_for_what_it_asks() -> None:
    column = np.array
    jobs = JobTable(
        column([1, 2, 3]), column([0.0, 1, 90]), *[column([100.0, 900, 10])] * 2, column([1, 1, 1]), column([0, 0, 0])
    )
    assert timed(jobs, 1, SELECTIONS["wfp3"], backfilling=False) == [0, 110, 100]


def test_ends_at_the_moment_of_the_reservation_are_left_over_too() -> None:
    column = np.array
    times, counts = column([10.0, 20.0, 20.0, 30.0]), column([1, 2, 3, 4])
    machine = ProcessorPool(JobTable(np.arange(4), np.zeros(4), times, times, counts, np.zeros(4, dtype=np.int64)), 11)
    for job in range(4):
        machine.begin(job, 0.0)
    assert (machine.free, machine.next_end()) == (1, 10.0)
    assert machine.reservation(3) == (20.0, 4)
