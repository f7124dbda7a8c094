"""Keys by hand: two jobs that came at 10 s and 100 s, requesting 100 s on 4 and 1000 s on 1; it is 1010 s."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.plugins.cluster.queueing.selection import NAMES, SELECTIONS, selection, waiting_rows
from jpo.plugins.cluster.workload.jobs import JobTable

JOBS = JobTable(
    *(np.array([1, 2]), np.array([10.0, 100.0]), np.array([1.0, 1.0]), np.array([100.0, 1000.0])),
    *(np.array([4, 1]), np.array([0, 0])),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fcfs", [10, 100]),
        ("sjf", [100, 1000]),
        ("ljf", [-100, -1000]),
        ("saf", [400, 1000]),
        ("smallest", [4, 1]),
        ("low_mem", [0, 0]),
        ("low_mem_bw", [0, 0]),
        ("f1", [2 * 4 + 870, 3 + 870 * 2]),
        ("f2", [10 * 4 + 25_600, math.sqrt(1000) + 25_600 * 2]),
        ("f3", [400 + 6_860_000, 1000 + 6_860_000 * 2]),
        ("f4", [100 * 2 + 530_000, 1000 + 530_000 * 2]),
        ("wfp3", [-(10.0**3) * 4, -(0.91**3)]),
        ("unicep", [-1000 / (2 * 100), -910 / (1e-9 * 1000)]),
    ],
)
def test_keys_are_those_of_the_papers(name: str, expected: list[float]) -> None:
    assert selection(name, seed=0).key(waiting_rows(JOBS), 1010.0).tolist() == pytest.approx(expected)


def test_a_submit_time_of_zero_is_taken_as_one_second() -> None:
    first = JobTable(JOBS.ids, np.array([0.0, 1.0]), JOBS.run_seconds, np.array([10.0, 10.0]), np.array([2, 2]), JOBS.users)
    assert SELECTIONS["f1"].key(waiting_rows(first), 0.0).tolist() == [2, 2]


def test_every_name_is_a_policy_and_no_other() -> None:
    assert [selection(name, seed=0).name for name in NAMES] == list(NAMES)
    with pytest.raises(KeyError):
        selection("best", seed=0)
