"""Tables of demand: what makes no sense cannot be built."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.cluster.queueing.selection import waiting_rows
from jpo.plugins.cluster.workload.demand import one_core_each
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
