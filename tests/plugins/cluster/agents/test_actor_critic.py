"""The actor learns what is better: of two jobs that fit, always the shorter one first."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')

from jpo.plugins.cluster.agents.actor_critic import ActorCritic
from jpo.plugins.cluster.agents.training import live, train_once
from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable


def one_processor(rng: np.random.Generator):
    run = rng.choice([60.0, 6000.0], 12)
    jobs = JobTable(np.arange(12), np.zeros(12), run, run, np.ones(12, dtype=np.int64), np.zeros(12, dtype=np.int64))
    return jobs, one_core_each(jobs), equal_processors(1)


def test_it_learns_to_take_short_jobs_first() -> None:
    agent = ActorCritic(EpisodeOptions("job", slots=12), hidden=16, lr=0.01, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(25):
        train_once(agent, one_processor, rng, episodes=8, objective="wait")
    episodes = [Episode(*one_processor(rng), agent.options) for _ in range(8)]
    live(agent, episodes, explore=False, objective="wait")
    for episode in episodes:
        order = np.argsort(episode.simulation.schedule().starts)
        runs = episode.jobs.run_seconds[order]
        assert (np.diff(runs) >= 0).mean() > 0.9
