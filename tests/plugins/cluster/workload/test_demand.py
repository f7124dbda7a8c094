"""Tables of demand: what makes no sense cannot be built."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.cluster.queueing.selection import waiting_rows
from jpo.plugins.cluster.workload.demand import SERIAL_SHARE, Elasticity, one_core_each, speedup
from jpo.plugins.cluster.workload.lublin import draw_jobs

JOBS = draw_jobs(3, 4, load=0.5, seed=0)


def test_a_log_of_equal_processors_asks_for_a_core_per_task() -> None:
    demand = one_core_each(JOBS)
    assert demand.tasks.tolist() == JOBS.processors.tolist()
    assert demand.rows(slice(1, 2)).cpus.tolist() == [1]
    assert waiting_rows(JOBS, demand=demand).memory_gib.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "change", [{"tasks": np.array([1, 0, 1])}, {"cpus": np.zeros(3, int)}, {"memory_gib": np.array([-1.0, 0, 0])}]
)
def test_tasks_need_something_and_nothing_negative(change: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match=r"no task|negative"):
        replace(one_core_each(JOBS), **change)


def test_speedup_by_hand() -> None:
    """1 / (.5 + .5 / 4) = 1.6; all parallel: 4; all serial: 1; eight tasks with the default share: 1 / (.05 + .95 / 8)."""
    found = speedup(np.array([4.0, 4.0, 4.0, 8.0]), np.array([0.5, 0.0, 1.0, SERIAL_SHARE]))
    assert found.tolist() == pytest.approx([1.6, 4.0, 1.0, 5.926], abs=1e-3)


@pytest.mark.parametrize(
    ("least", "most", "share", "finding"),
    [
        ([0], [1], [0.1], "no task"),
        ([3], [2], [0.1], "fewer at most"),
        ([1], [2], [1.1], "0 to 1"),
        ([1], [2, 3], [0.0], "lengths"),
    ],
)
def test_ranges_that_cannot_be_are_refused(least: list[int], most: list[int], share: list[float], finding: str) -> None:
    with pytest.raises(ValueError, match=finding):
        Elasticity(np.array(least), np.array(most), np.array(share))
