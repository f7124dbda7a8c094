"""Keys that change: the one who waited long overtakes."""

from __future__ import annotations

import numpy as np

from jpo.plugins.cluster.queueing.selection import SELECTIONS
from jpo.plugins.cluster.queueing.timed import timed
from jpo.plugins.cluster.workload.jobs import JobTable


def test_of_two_that_wait_the_one_goes_first_whose_wait_is_longer_for_what_it_asks() -> None:
    column = np.array
    jobs = JobTable(
        column([1, 2, 3]), column([0.0, 1, 90]), *[column([100.0, 900, 10])] * 2, column([1, 1, 1]), column([0, 0, 0])
    )
    assert timed(jobs, 1, SELECTIONS["wfp3"], backfilling=False) == [0, 110, 100]
