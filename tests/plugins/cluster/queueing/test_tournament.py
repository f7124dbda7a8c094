"""The first of a long queue: as a look at every key finds it, while jobs come and go and time passes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.plugins.cluster.queueing import timed as timed_queue
from jpo.plugins.cluster.queueing.selection import SELECTIONS, waiting_rows
from jpo.plugins.cluster.queueing.simulate import Rule, simulate
from jpo.plugins.cluster.queueing.tournament import Tournament
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.lublin import draw_jobs


def table(rows: list[tuple[int, int, int]]) -> JobTable:
    """Jobs of (submit, requested, processors), in any order."""
    submit, requested, processors = np.array(sorted(rows)).T
    count = len(rows)
    return JobTable(np.arange(count), submit * 1.0, requested * 1.0, requested * 1.0, processors, np.zeros(count, dtype=np.int64))


rows = st.lists(st.tuples(st.integers(0, 50), st.sampled_from([5, 10, 15, 30]), st.integers(1, 8)), min_size=2, max_size=20)


@settings(max_examples=60)
@given(rows, st.sampled_from(["wfp3", "unicep"]), st.randoms(use_true_random=False))
def test_the_first_is_the_one_with_the_smallest_key_at_any_time(rows: list[tuple[int, int, int]], name: str, random) -> None:  # type: ignore[no-untyped-def]
    jobs, selection = table(rows), SELECTIONS[name]
    tournament, waiting = Tournament(jobs, selection), list[int]()
    for now in np.cumsum(np.array([0, *(random.choice([1, 7, 40]) for _ in range(12))], dtype=np.float64)) + 50:
        tournament.go_to(now)
        for job in random.sample(range(len(jobs)), min(3, len(jobs))):
            (tournament.go if job in waiting else tournament.come)(job)
            waiting.remove(job) if job in waiting else waiting.append(job)
        free, extra, shadow = random.randint(1, 8), random.randint(0, 4), now + random.choice([4, 10, 30])
        keys = dict(zip(waiting, selection.key(waiting_rows(jobs, np.array(waiting, dtype=np.int64)), now), strict=True))
        order = sorted(waiting, key=lambda job: (keys[job], job))
        fits = [
            job
            for job in order
            if jobs.processors[job] <= min(free, extra)
            or (jobs.processors[job] <= free and now + jobs.requested_seconds[job] <= shadow)
        ]
        assert tournament.first() == (order[0] if order else -1)
        assert tournament.first_that_fits(free, extra, shadow) == (fits[0] if fits else -1)


@pytest.mark.parametrize("name", ["wfp3", "unicep+easy", "wfp3+easy"])
def test_long_queues_have_the_same_schedule_as_short_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = draw_jobs(600, 32, load=3.0, seed=4)
    policy, _, backfilling = name.partition("+")
    rule = Rule(policy, "easy" if backfilling else "none")
    usual = simulate(jobs, 32, rule)
    monkeypatch.setattr(timed_queue, "LONG", 8)
    assert np.array_equal(simulate(jobs, 32, rule), usual)
