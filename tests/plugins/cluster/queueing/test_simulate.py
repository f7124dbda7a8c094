"""Schedulers of equal processors against plain ones, and what holds of every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import MACHINE, brute_force, most_held, traces

from jpo.plugins.cluster.queueing import ranked
from jpo.plugins.cluster.queueing.selection import NAMES, SELECTIONS, waiting_rows
from jpo.plugins.cluster.queueing.simulate import BACKFILLINGS, Backfilling, Rule, simulate
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.lublin import draw_jobs

RULES = [Rule(name, backfilling) for name in NAMES for backfilling in BACKFILLINGS]


@pytest.mark.parametrize("backfilling", ["none", "easy"])
@pytest.mark.parametrize("name", [*SELECTIONS])
@settings(max_examples=30)
@given(jobs=traces())
def test_a_schedule_is_that_of_a_brute_force(name: str, backfilling: Backfilling, jobs: JobTable) -> None:
    key = SELECTIONS[name].key

    def rank(job: int, now: float) -> tuple[float, ...]:
        return float(key(waiting_rows(jobs, slice(job, job + 1)), now)[0]), job

    assert simulate(jobs, MACHINE, Rule(name, backfilling)).tolist() == brute_force(jobs, rank, backfilling=backfilling == "easy")


@settings(max_examples=200)
@given(jobs=traces())
def test_long_queues_are_backfilled_as_short_ones(jobs: JobTable) -> None:
    keys = jobs.requested_seconds
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranked, "LONG", 0)
        found = ranked.in_turn(jobs, MACHINE, keys, backfilling=True)
    assert found == brute_force(jobs, lambda job, now: (keys[job], job), backfilling=True)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@settings(max_examples=20)
@given(jobs=traces())
def test_every_job_starts_once_it_came_and_no_processor_is_held_twice(rule: Rule, jobs: JobTable) -> None:
    starts = simulate(jobs, MACHINE, rule, seed=3)
    assert (starts >= jobs.submit_seconds).all()
    assert most_held(jobs, starts) <= MACHINE
    assert np.array_equal(starts, simulate(jobs, MACHINE, rule, seed=3))


@settings(max_examples=200)
@given(jobs=traces(perfect=True), count=st.integers(1, 14))
def test_conservative_never_delays_a_job_by_those_behind_it_where_requests_are_true(jobs: JobTable, count: int) -> None:
    promised = simulate(jobs.rows(slice(count)), MACHINE, Rule("fcfs", "conservative"))
    assert (simulate(jobs, MACHINE, Rule("fcfs", "conservative"))[:count] == promised).all()


@settings(max_examples=300)
@given(jobs=traces(perfect=True))
def test_the_head_never_starts_later_than_its_first_reservation_where_requests_are_true(jobs: JobTable) -> None:
    """The reservation of a head is made when the one before it in the order starts; jobs behind it do not move it."""
    starts = simulate(jobs, MACHINE, Rule("fcfs", "easy"))
    for head in range(1, len(jobs)):
        before = starts[:head]
        since = max(jobs.submit_seconds[head], before.max())  # from here on it is the head
        ends = np.sort(np.unique(np.append((starts + jobs.run_seconds)[starts <= since], since)))
        running = [job for job in range(len(jobs)) if starts[job] <= since < starts[job] + jobs.run_seconds[job] and job != head]
        held = [sum(jobs.processors[job] for job in running if starts[job] + jobs.run_seconds[job] > moment) for moment in ends]
        fits = [
            moment
            for moment, count in zip(ends, held, strict=True)
            if moment >= since and MACHINE - count >= jobs.processors[head]
        ]
        if starts[head] >= since:
            assert starts[head] <= fits[0]


def test_conservative_keeps_the_promise_to_each_job_by_hand() -> None:
    """4 processors: A holds 3 until 10; B needs 4, from 10 to 20; C needs 1 for 12 s: EASY would let it delay nobody but B."""
    column = np.array
    jobs = JobTable(
        column([1, 2, 3, 4]), column([0.0, 1, 2, 3]), *[column([10.0, 10, 12, 8])] * 2, column([3, 4, 1, 1]), column([0] * 4)
    )
    assert simulate(jobs, 4, Rule("fcfs", "conservative")).tolist() == [0, 10, 20, 20]
    short = JobTable(jobs.ids, jobs.submit_seconds, *[column([10.0, 10, 12, 7])] * 2, jobs.processors, jobs.users)
    assert simulate(short, 4, Rule("fcfs", "conservative")).tolist() == [0, 10, 20, 3]


def test_a_job_that_can_never_run_ends_the_simulation_at_once() -> None:
    jobs = draw_jobs(50, 64, load=0.9, seed=0)
    with pytest.raises(ValueError, match="a job needs"):
        simulate(jobs, int(jobs.processors.max()) - 1, Rule("fcfs"))


def test_random_is_another_order_for_another_seed() -> None:
    jobs = draw_jobs(300, 32, load=1.2, seed=0)
    assert not np.array_equal(simulate(jobs, 32, Rule("random"), seed=1), simulate(jobs, 32, Rule("random"), seed=2))
