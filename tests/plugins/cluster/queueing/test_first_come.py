"""First come, first served by hand."""

from __future__ import annotations

import numpy as np

from jpo.plugins.cluster.queueing.first_come import first_come
from jpo.plugins.cluster.workload.jobs import JobTable


def test_a_small_job_waits_behind_a_large_one() -> None:
    column = np.array
    jobs = JobTable(column([1, 2, 3]), column([0.0, 1, 2]), *[column([10.0, 5, 1])] * 2, column([3, 4, 1]), column([0, 0, 0]))
    assert first_come(jobs, 4) == [0, 10, 15]
