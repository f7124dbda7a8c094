from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

from jpo.records import NAMED_PREFERENCES

gymnasium = pytest.importorskip("gymnasium", reason='gymnasium not found: pip install "jpo[simulate]"')

from gymnasium.utils.env_checker import check_env  # noqa: E402

from jpo.simulate.environment import LADDERS, REACH, TrainingJob, register  # noqa: E402

STAY = np.full(len(LADDERS), REACH)


def played(env: TrainingJob, actions: list[np.ndarray], seed: int = 0) -> list[tuple[np.ndarray, float, dict[str, object]]]:
    env.reset(seed=seed)
    return [(seen, reward, info) for seen, reward, _, _, info in (env.step(action) for action in actions)]


@pytest.mark.parametrize("arguments", [{}, {"horizon": 2}, {"drift": True}, {"preference": NAMED_PREFERENCES["cost"]}])
def test_gymnasiums_own_checker_has_nothing_to_say(arguments: dict[str, object]) -> None:
    register()
    register()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make("jpo/TrainingJob-v0", **arguments).unwrapped)


def test_the_same_seed_plays_the_same_episode_and_another_one_another() -> None:
    env = TrainingJob(drift=True)
    env.action_space.seed(3)
    actions = [env.action_space.sample() for _ in range(20)]
    first, again, other = (played(env, actions, seed) for seed in (7, 7, 8))
    assert all((a[0] == b[0]).all() and a[1] == b[1] for a, b in zip(first, again, strict=True))
    assert any(a[1] != b[1] for a, b in zip(first, other, strict=True))


def test_an_episode_is_truncated_at_its_horizon_and_never_terminated() -> None:
    env = TrainingJob(horizon=5)
    env.reset(seed=0)
    ends = [env.step(STAY)[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]


def test_observations_and_rewards_stay_in_their_bounds() -> None:
    for seed in range(30):
        env = TrainingJob(horizon=10, drift=True)
        env.action_space.seed(seed)
        for seen, reward, _ in played(env, [env.action_space.sample() for _ in range(10)], seed):
            assert env.observation_space.contains(seen)
            assert -3.0 <= reward <= 0.0


def test_the_oracles_configuration_earns_nothing_less_than_zero() -> None:
    env = TrainingJob(horizon=30)
    for seed in range(10):
        _, info = env.reset(seed=seed)
        best = [ladder.index(info["best"][name]) for name, ladder in LADDERS.items()]
        for _ in range(6):  # at most three steps of two rungs on the longest ladder
            here = [ladder.index(info["parameters"][name]) for name, ladder in LADDERS.items()]
            _, reward, _, _, info = env.step(np.clip(np.subtract(best, here), -REACH, REACH) + REACH)
        assert info["parameters"] == info["best"]
        assert info["failed"] or reward == pytest.approx(0.0, abs=1e-9)


def test_moves_climb_their_ladder_and_stop_at_its_end() -> None:
    up = np.array([2 * REACH, REACH, REACH, REACH])
    batches = [info["parameters"]["batch_size"] for _, _, info in played(TrainingJob(), [up] * 5)]
    assert batches[-1] == 1024.0
    assert all(later in (earlier * 4, 1024.0) for earlier, later in pairwise(batches))


def test_a_failed_run_costs_more_than_two_of_the_last_good_one() -> None:
    env = TrainingJob(horizon=20)
    for seed in range(60):
        env.reset(seed=seed)
        stayed = env.step(STAY)
        for _ in range(3):
            _, reward, _, _, info = env.step(np.array([REACH, 2 * REACH, REACH, REACH]))  # learning rate up
            if info["failed"] and not stayed[4]["failed"]:
                assert reward <= max(-3.0, -1.0 + 1e-9)
                return
    pytest.fail("no learning rate was too high in 60 jobs")


def test_an_episode_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        TrainingJob(horizon=0)
