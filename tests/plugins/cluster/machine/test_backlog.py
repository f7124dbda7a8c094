"""Backlog by hand: two kinds of jobs that wait, and who of them is found first."""

from __future__ import annotations

import numpy as np

from jpo.plugins.cluster.machine.backlog import Backlog
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import sorted_jobs


def backlog() -> Backlog:
    """Jobs 0, 2 and 3 of one core that request 30, 10 and 20 s; job 1 of four cores."""
    requested = np.array([30.0, 5.0, 10.0, 20.0])
    jobs = sorted_jobs(np.arange(4), np.arange(4.0), requested, requested, np.array([1, 4, 1, 1]))
    found = Backlog(Simulation(jobs, one_core_each(jobs), equal_processors(8)))
    for job in range(4):
        found.come(job, 10 + job)
    return found


def test_jobs_that_need_the_same_are_of_one_kind() -> None:
    found = backlog()
    assert [kind.number for kind in found.of] == [0, 1, 0, 0]
    assert [kind.wanted for kind in found.want_at_most([8, 0])] == [1, 4]
    assert [kind.wanted for kind in found.want_at_most([3, 0])] == [1]


def test_the_first_that_ends_in_time_is_found_by_its_request() -> None:
    kind = backlog().of[0]
    assert kind.first_from(11) == 12
    assert (
        kind.first_that_ends(10, now=100.0, speed=2.0, until=110.0) == 12
    )  # 10 s at twice the speed; 20 s would end in time, too
    assert kind.first_that_ends(13, now=100.0, speed=2.0, until=110.0) == 13
    assert kind.first_that_ends(13, now=100.0, speed=1.0, until=110.0) is None
    assert kind.first_that_ends(10, now=100.0, speed=1.0, until=109.0) is None


def test_who_goes_is_found_no_more() -> None:
    found = backlog()
    found.go(2, 12)
    found.go(1, 11)
    assert found.of[0].ranks == [10, 13]
    assert found.of[0].lengths == [20.0, 30.0]
    assert [kind.number for kind in found.want_at_most([8, 0])] == [0]
