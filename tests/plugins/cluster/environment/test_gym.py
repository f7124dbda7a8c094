"""The Gymnasium environment passes gymnasium's own check."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from jpo.plugins.cluster.environment.episode import ActionMode, EpisodeOptions
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.lublin import draw_jobs

gymnasium = pytest.importorskip("gymnasium", reason='gymnasium not found: pip install "jpo[cluster]"')
MODES: tuple[ActionMode, ...] = ("job", "backfill", "pair")


def source(rng: np.random.Generator):
    jobs = draw_jobs(40, 16, load=1.5, seed=int(rng.integers(1000)))
    return jobs, one_core_each(jobs), equal_processors(16)


@pytest.mark.parametrize("mode", MODES)
def test_it_passes_the_check_without_a_warning(mode: ActionMode) -> None:
    from gymnasium.utils.env_checker import check_env

    from jpo.plugins.cluster.environment.gym import ClusterEnv

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(ClusterEnv(source, EpisodeOptions(mode, slots=8)), skip_render_check=True)


def test_rewards_add_up_and_an_action_that_is_not_open_is_said_so() -> None:
    from jpo.plugins.cluster.environment.gym import ClusterEnv

    env = ClusterEnv(source, EpisodeOptions("job", slots=8), objective="wait", scale=100.0)
    _, info = env.reset(seed=1)
    total, done = 0.0, False
    while not done:
        closed = np.flatnonzero(info["action_mask"] == 0)
        _, reward, done, _, info = env.step(np.int64(closed[0] if len(closed) else 0))
        assert info["not_open"] == bool(len(closed))
        total += reward
    assert env.episode is not None
    waits = env.episode.simulation.schedule().starts - env.episode.jobs.submit_seconds
    assert total == pytest.approx(-waits.mean() / 100)
