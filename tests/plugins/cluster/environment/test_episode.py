"""Episodes: rewards add up to metrics, the first open action is a known rule, and an episode always ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import MACHINE, traces

from jpo.plugins.cluster.environment.episode import PAIRS, ActionMode, Episode, EpisodeOptions
from jpo.plugins.cluster.environment.observation import Observer, size
from jpo.plugins.cluster.machine.bill import bill
from jpo.plugins.cluster.metrics import queue_metrics
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType, equal_processors
from jpo.plugins.cluster.queueing.simulate import Rule, simulate
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable

PLATFORM = Platform("p", (NodeGroup("c", NodeType("n", (ProcessorType("c", "cpu", MACHINE, 1.0, 10.0),)), 1),))


@pytest.mark.parametrize("mode", ["job", "backfill", "pair"])
@settings(max_examples=60)
@given(jobs=traces(), seed=st.integers(0, 99))
def test_rewards_of_any_policy_add_up_to_the_metrics_of_its_schedule(mode: ActionMode, jobs: JobTable, seed: int) -> None:
    rng = np.random.default_rng(seed)
    demand = one_core_each(jobs)
    episode = Episode(jobs, demand, PLATFORM, EpisodeOptions(mode, slots=4, order="sjf", seed=seed))
    observer, total = Observer(episode), np.zeros(7)
    for _ in range(10_000):
        if episode.done:
            break
        mask = episode.mask()
        assert mask.any()
        seen = observer.observe(mask)
        assert seen.shape == (size(4),)
        assert np.abs(seen).max() <= 1
        total += episode.step(int(rng.choice(np.flatnonzero(mask))))
    assert episode.done
    total += episode.reward()  # nothing but where there was no decision
    schedule = episode.simulation.schedule()
    found, owed = queue_metrics(jobs, schedule.starts, MACHINE), bill(jobs, demand, PLATFORM, schedule)
    assert (-total[:4]).tolist() == pytest.approx(
        [
            found.wait_seconds.average,
            found.bounded_slowdown.average,
            found.turnaround_seconds.average,
            found.makespan_seconds,
        ]
    )
    assert [total[4], -total[5], -total[6]] == pytest.approx([found.utilisation, owed.energy_joules, owed.edp_joule_seconds])


@pytest.mark.parametrize("order", ["fcfs", "saf", "f1"])
@settings(max_examples=60)
@given(jobs=traces())
def test_always_the_first_of_those_that_may_go_before_is_easy_backfilling(order: str, jobs: JobTable) -> None:
    episode = Episode(jobs, one_core_each(jobs), equal_processors(MACHINE), EpisodeOptions("backfill", slots=20, order=order))
    while not episode.done:
        episode.step(int(np.argmax(episode.mask())))
    assert episode.simulation.schedule().starts.tolist() == simulate(jobs, MACHINE, Rule(order, "easy")).tolist()


@settings(max_examples=60)
@given(jobs=traces())
def test_one_pair_all_the_time_is_that_rule_without_backfilling(jobs: JobTable) -> None:
    options = EpisodeOptions("pair", pairs=(("shortest", "high_gflops"),), void=False)
    episode = Episode(jobs, one_core_each(jobs), equal_processors(MACHINE), options)
    while not episode.done:
        episode.step(0)
    assert episode.simulation.schedule().starts.tolist() == simulate(jobs, MACHINE, Rule("sjf")).tolist()


def test_there_are_36_pairs_and_void() -> None:
    assert (len(PAIRS), EpisodeOptions("pair").actions, EpisodeOptions("pair", void=False).actions) == (36, 37, 36)


def test_an_action_that_is_not_open_is_refused() -> None:
    jobs = JobTable(np.array([1]), np.zeros(1), *[np.ones(1)] * 2, np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    episode = Episode(jobs, one_core_each(jobs), equal_processors(1), EpisodeOptions(slots=2))
    assert episode.mask().tolist() == [True, False, False]  # void would wait for ever
    for action in (1, 2, 3, -1):
        with pytest.raises(ValueError, match="not open"):
            episode.step(action)
    episode.step(0)
    with pytest.raises(ValueError, match="over"):
        episode.step(0)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"mode": "jobs"}, "mode 'jobs' is none of job, backfill, pair"),
        ({"order": "wfp3"}, "order 'wfp3' is not a job selection whose keys stay"),
        ({"resources": "best"}, "resources 'best' is none of"),
        ({"slots": 0}, "a slot at least"),
        ({"pairs": ()}, "pairs that are among PAIRS"),
    ],
)
def test_options_by_which_nothing_could_be_decided_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        EpisodeOptions(**wrong)


def test_who_came_and_went_first_leaves_no_old_reservation() -> None:
    """Job 3 starts at once; what it takes moves the reservation of job 0, so that job 1 may go before it."""
    column = np.array
    jobs = JobTable(
        np.arange(4),
        column([0.0, 0, 0, 1]),
        column([0.0, 0, 2, 0]),
        column([1.0, 2, 1, 2]),
        column([8, 4, 1, 1]),
        np.zeros(4, dtype=np.int64),
    )
    episode = Episode(jobs, one_core_each(jobs), equal_processors(8), EpisodeOptions("backfill", slots=20, order="saf"))
    while not episode.done:
        episode.step(int(np.argmax(episode.mask())))
    assert episode.simulation.schedule().starts.tolist() == [2, 1, 0, 1] == simulate(jobs, 8, Rule("saf", "easy")).tolist()
