"""Figures of a workload by hand."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.description import describe
from jpo.plugins.cluster.grid import Scenario
from jpo.plugins.cluster.workload.jobs import JobTable


def test_load_shares_and_accuracy() -> None:
    column = np.array
    jobs = JobTable(
        column([1, 2]), column([0.0, 10.0]), column([10.0, 30.0]), column([20.0, 15.0]), column([1, 3]), column([5, -1])
    )
    found = describe(Scenario("t", jobs, 4))
    assert (found.span_seconds, found.load, found.users) == (10, 100 / 40, 1)
    assert (found.shares["serial"], found.shares["power_of_two"], found.shares["overruns"]) == (0.5, 0.5, 0.5)
    assert found.shares["elastic_jobs"] == 0
    assert found.shares["accuracy"] == pytest.approx((0.5 + 1) / 2)
