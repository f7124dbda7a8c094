"""Keys that change: the one who waited long overtakes."""

from __future__ import annotations

import numpy as np

from jpo.cluster.queueing.selection import SELECTIONS
from jpo.cluster.queueing.timed import reservation, timed
from jpo.cluster.workload.jobs import JobTable


def test_of_two_that_wait_the_one_goes_first_whose_wait_is_longer_for_what_it_asks() -> None:
    column = np.array
    jobs = JobTable(
        column([1, 2, 3]), column([0.0, 1, 90]), *[column([100.0, 900, 10])] * 2, column([1, 1, 1]), column([0, 0, 0])
    )
    assert timed(jobs, 1, SELECTIONS["wfp3"].key, backfilling=False) == [0, 110, 100]


def test_ends_at_the_moment_of_the_reservation_are_left_over_too() -> None:
    assert reservation([10.0, 20.0, 20.0, 30.0], [1, 2, 3, 4], free=1, first=3) == (20.0, 4)
