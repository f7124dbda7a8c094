"""Metrics by hand: 4 processors; a job of 10 s on 4 at 0, one of 2 s on 1 that came at 4 and starts at 10."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.metrics import JobFigures, queue_metrics, spread
from jpo.plugins.cluster.workload.jobs import JobTable

JOBS = JobTable(np.array([1, 2]), np.array([0.0, 4.0]), *[np.array([10.0, 2.0])] * 2, np.array([4, 1]), np.array([1, 2]))


def test_every_figure_is_that_of_its_formula() -> None:
    found = queue_metrics(JOBS, np.array([0.0, 10.0]), 4)
    assert found.wait_seconds == JobFigures(3, 3, pytest.approx(5.7), 6)
    assert found.bounded_slowdown.average == 1  # (6 + 2) / 10 is below 1
    assert found.turnaround_seconds.average == 9
    assert (found.completion_seconds.largest, found.makespan_seconds) == (12, 12)
    assert found.utilisation == pytest.approx(42 / 48)
    assert found.utilisation_by_last_start == 1
    assert (found.fairness, found.jobs) == (1, 2)


def test_a_short_job_counts_as_ten_seconds_and_users_are_compared() -> None:
    found = queue_metrics(JOBS, np.array([0.0, 32.0]), 4)
    assert found.bounded_slowdown.largest == 3  # (28 + 2) / 10
    assert found.fairness == pytest.approx((1 + 3) ** 2 / (2 * (1 + 9)))


def test_unknown_users_and_a_start_of_all_at_once_have_no_figure() -> None:
    alone = JobTable(np.array([1]), np.array([5.0]), np.array([0.0]), np.array([1.0]), np.array([1]), np.array([-1]))
    found = queue_metrics(alone, np.array([5.0]), 4)
    assert (found.fairness, found.utilisation_by_last_start, found.utilisation) == (None, None, 0)


def test_a_spread_has_average_median_percentile_and_largest() -> None:
    assert spread(np.array([1.0, 2.0, 9.0])) == JobFigures(4, 2, pytest.approx(8.3), 9)
