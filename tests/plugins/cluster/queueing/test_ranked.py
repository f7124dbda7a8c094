"""EASY by hand: 4 processors; A holds 3 until 10, B needs 3."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.queueing.ranked import first_come, in_turn
from jpo.plugins.cluster.workload.jobs import JobTable


def three(seconds: float) -> JobTable:
    column = np.array
    return JobTable(
        column([1, 2, 3]), column([0.0, 1, 2]), *[column([10.0, 5, seconds])] * 2, column([3, 3, 1]), column([0, 0, 0])
    )


@pytest.mark.parametrize("seconds", [8.0, 9.0, 500.0])
def test_a_job_that_takes_only_what_the_head_leaves_over_goes_before_it(seconds: float) -> None:
    jobs = three(seconds)
    assert in_turn(jobs, 4, jobs.submit_seconds, backfilling=True) == [0, 10, 2]
    assert in_turn(jobs, 4, jobs.submit_seconds, backfilling=False) == [0, 10, 10]


@pytest.mark.parametrize(("seconds", "start"), [(8.0, 2), (8.5, 15)])
def test_a_job_that_takes_the_place_of_the_head_must_end_before_the_reservation(seconds: float, start: float) -> None:
    column = np.array
    jobs = JobTable(
        column([1, 2, 3]), column([0.0, 1, 2]), *[column([10.0, 5, seconds])] * 2, column([3, 4, 1]), column([0, 0, 0])
    )
    assert in_turn(jobs, 4, jobs.submit_seconds, backfilling=True) == [0, 10, start]


def test_first_come_a_small_job_waits_behind_a_large_one() -> None:
    column = np.array
    jobs = JobTable(column([1, 2, 3]), column([0.0, 1, 2]), *[column([10.0, 5, 1])] * 2, column([3, 4, 1]), column([0, 0, 0]))
    assert first_come(jobs, 4) == [0, 10, 15]
