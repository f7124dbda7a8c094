"""A reserve: without one it is the rule; with one long jobs leave devices free, and short ones wait less."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.plugins.cluster.agents.contest import values_of_agent
from jpo.plugins.cluster.agents.reserving import Reserving, values_of_rule
from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.environment.episode import EpisodeOptions
from jpo.plugins.cluster.machine.discipline import Discipline, run
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.queueing.simulate import Rule
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import sorted_jobs

HALF = {"search": np.array([(0.0, 0.0, -1.0, 2.0), (1.0, 1.0, 1.0, 1.0)], dtype=np.float32)}


def test_without_a_reserve_it_is_the_rule(parts: Sequences) -> None:
    agent = Reserving(EpisodeOptions("backfill", order="saf"))
    agent.load(HALF)
    drawn = [parts(np.random.default_rng(seed)) for seed in range(3)]
    with_it = values_of_agent(agent, drawn, "slowdown", range(1))
    agent.margin = math.inf
    without = values_of_agent(agent, drawn, "slowdown", range(1))
    assert without.tolist() == [values_of_rule(Rule("saf", "easy"), one, ("slowdown",))[0] for one in drawn]
    assert (with_it != without).any()


def test_a_long_job_leaves_devices_for_short_ones_to_come() -> None:
    columns = [[1, 2, 3], [0, 10, 20], [1000, 1000, 50], [1000, 1000, 50], [2, 2, 1]]
    jobs = sorted_jobs(*(np.array(column, dtype=float if place in (1, 2, 3) else int) for place, column in enumerate(columns)))
    work = jobs, one_core_each(jobs), equal_processors(4)
    starts = [
        run(*work, Discipline(selection("fcfs", seed=0), "first", "easy", keep=keep)).starts.tolist() for keep in ((), (1, 1, 0))
    ]
    assert starts == [[0, 10, 1000], [0, 1000, 20]]


@pytest.mark.parametrize("objective", ["slowdown", "utilisation"])
def test_the_search_moves_and_the_same_seed_finds_the_same(objective: str, parts: Sequences) -> None:
    found = []
    for _ in range(2):
        agent = Reserving(seed=3)
        before = agent.weights()["search"]
        drawn = [parts(np.random.default_rng(seed)) for seed in range(2)]
        assert np.isfinite(agent.evolve(drawn, objective)["return"])
        assert not np.array_equal(agent.weights()["search"], before)
        found.append(agent.weights()["search"])
    assert np.array_equal(*found)


def test_weights_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="another shape"):
        Reserving().load({"search": np.zeros(3, dtype=np.float32)})
