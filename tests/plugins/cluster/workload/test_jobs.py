"""The table of jobs: what it refuses to hold."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.workload.jobs import JobTable, sorted_jobs


def table(submit: list[float], run: list[float], requested: list[float], processors: list[int]) -> JobTable:
    count = len(submit)
    return JobTable(
        np.arange(count), np.array(submit), np.array(run), np.array(requested), np.array(processors), np.zeros(count, int)
    )


@pytest.mark.parametrize(
    ("submit", "run", "requested", "processors"),
    [
        ([0.0, 1.0], [1.0], [1.0], [1]),
        ([1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1, 1]),
        ([0.0], [-1.0], [1.0], [1]),
        ([0.0], [1.0], [0.0], [1]),
        ([0.0], [1.0], [1.0], [0]),
        ([0.0], [float("inf")], [1.0], [1]),
    ],
)
def test_a_table_that_makes_no_sense_cannot_be_built(
    submit: list[float], run: list[float], requested: list[float], processors: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"columns|order|negative|finite"):
        table(submit, run, requested, processors)


def test_jobs_in_any_order_are_sorted_by_arrival_then_id() -> None:
    ones = np.ones(3)
    found = sorted_jobs(np.array([3, 2, 1]), np.array([5.0, 0.0, 5.0]), ones, ones, np.array([1, 2, 3]))
    assert (found.ids.tolist(), found.processors.tolist(), found.users.tolist()) == ([2, 1, 3], [2, 3, 1], [-1, -1, -1])
    assert found.rows(found.processors > 1).ids.tolist() == [2, 1]
