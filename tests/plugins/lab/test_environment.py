from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

from jpo.records import NAMED_PREFERENCES

gymnasium = pytest.importorskip("gymnasium", reason='gymnasium not found: pip install "jpo[simulate]"')

from gymnasium.utils.env_checker import check_env  # noqa: E402

from jpo.plugins.lab.environment import OBSERVED, REACH, TrainingJob, register  # noqa: E402
from jpo.plugins.lab.episode import LADDERS  # noqa: E402
from jpo.simulate.installations import KINDS, Installation  # noqa: E402

STAY = np.full(len(LADDERS), REACH)
OPTIONS: list[dict[str, object]] = [
    {},
    {"horizon": 2},
    {"drift": True},
    {"preference": NAMED_PREFERENCES["cost"]},
    {"sla": {}},
    {"sla": {"duration": 1.1, "val_loss": 1.0}, "budget": 10.0, "end_at_broken_sla": True},
    *({"installation": kind} for kind in KINDS),
]


def played(env: TrainingJob, actions: list[np.ndarray], seed: int = 0) -> list[tuple[np.ndarray, float, dict[str, object]]]:
    env.reset(seed=seed)
    return [(seen, reward, info) for seen, reward, _, _, info in (env.step(action) for action in actions)]


def moved(**knobs: int) -> np.ndarray:
    """An action that moves these knobs by so many rungs."""
    return STAY + np.array([knobs.get(name, 0) for name in LADDERS])


def numbers(seen: np.ndarray) -> dict[str, float]:
    return dict(zip(OBSERVED, map(float, seen), strict=True))


@pytest.mark.parametrize("arguments", OPTIONS)
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
        env = TrainingJob(horizon=10, drift=True, budget=8.0)
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
    up = moved(batch_size=REACH)
    batches = [info["parameters"]["batch_size"] for _, _, info in played(TrainingJob(), [up] * 5)]
    assert batches[-1] == 1024.0
    assert all(later in (earlier * 4, 1024.0) for earlier, later in pairwise(batches))


def test_a_failed_run_costs_more_than_two_of_the_last_good_one() -> None:
    env = TrainingJob(horizon=20)
    for seed in range(60):
        env.reset(seed=seed)
        stayed = env.step(STAY)
        for _ in range(3):
            _, reward, _, _, info = env.step(moved(learning_rate=REACH))
            if info["failed"] and not stayed[4]["failed"]:
                assert reward <= max(-3.0, -1.0 + 1e-9)
                return
    pytest.fail("no learning rate was too high in 60 jobs")


def test_an_episode_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        TrainingJob(horizon=0)


def test_an_observation_shows_what_cpus_memory_and_gpus_are_used() -> None:
    env = TrainingJob()
    for seed in range(20):
        seen = numbers(env.reset(seed=seed)[0])
        assert all(0 < seen[f"{name}_utilisation"] <= 1 for name in ("cpu", "memory", "gpu"))
        more, _, _, _, info = env.step(moved(memory_gib=1))
        if not info["failed"] and info["parameters"]["memory_gib"] < 128:
            assert numbers(more)["memory_utilisation"] == pytest.approx(seen["memory_utilisation"] / 2, rel=1e-3)
            return
    pytest.fail("memory was never free to grow")


def test_slack_is_negative_where_a_run_broke_its_target_and_one_where_there_is_none() -> None:
    env = TrainingJob(sla={"duration": 1.2})
    for seed in range(40):
        env.reset(seed=seed)
        seen, _, ended, _, info = env.step(moved(gpus=-REACH))
        values = numbers(seen)
        assert (values["slack_cost"], values["slack_val_loss"]) == (1.0, 1.0)
        assert not ended
        if not info["failed"]:
            assert (values["slack_duration"] < 0) == ("duration" in info["broken"])
            assert values["slack_duration"] == pytest.approx(np.log(1.2) / 6 - values["log_time"], abs=1e-5)


def test_a_budget_is_used_up_run_by_run() -> None:
    env = TrainingJob(horizon=6, budget=4.0, sla={})
    seen = [numbers(env.reset(seed=1)[0]), *(numbers(env.step(STAY)[0]) for _ in range(6))]
    left = [one["budget_left"] for one in seen]
    assert left[0] == 1.0
    assert all(before > after for before, after in pairwise(left))
    assert left[-1] < 0
    assert numbers(TrainingJob().reset(seed=1)[0])["budget_left"] == 1.0


def test_an_episode_ends_at_a_broken_sla_only_where_asked_and_to_end_never_pays() -> None:
    ends = 0
    for seed in range(30):
        lasting, ending = TrainingJob(horizon=5), TrainingJob(horizon=5, end_at_broken_sla=True)
        for env in (lasting, ending):
            env.reset(seed=seed)
        for left in reversed(range(5)):
            action = moved(batch_size=1, gpus=-1)
            seen, _, ended, _, info = lasting.step(action)
            same_seen, reward, terminated, truncated, _ = ending.step(action)
            assert (seen == same_seen).all()
            assert not ended
            assert terminated == bool(info["broken"])
            if terminated:
                assert (reward, truncated) == (-3.0 * (left + 1), False)
                ends += 1
                break
    assert ends > 5


def test_the_budget_ends_an_episode_too() -> None:
    env = TrainingJob(sla={}, budget=2.5, end_at_broken_sla=True, horizon=10)
    env.reset(seed=3)
    steps = [env.step(STAY) for _ in range(3)]
    assert [step[2] for step in steps] == [False, False, True]
    assert steps[-1][4]["broken"] == ("budget",)


def test_all_episodes_of_a_kind_live_in_one_installation() -> None:
    some, others = TrainingJob(installation="slow-links"), TrainingJob(installation="slow-links")
    assert some.installation == others.installation
    given = Installation("slow-links", node=2.0)
    assert TrainingJob(installation=given).installation == given
    actions = [moved(gpus=1)] * 3
    usual, slow = (
        np.mean(
            [
                step[0][list(OBSERVED).index("log_time")]
                for seed in range(30)
                for step in played(TrainingJob(**told), actions, seed)
            ]
        )
        for told in ({}, {"installation": Installation("slow-links", slope=1.5)})
    )
    assert slow > usual


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"sla": {"speed": 1.0}}, "sla limits speed"), ({"sla": {"cost": 0.0}}, "above 0"), ({"budget": -1.0}, "above 0")],
)
def test_targets_that_cannot_be_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrainingJob(**arguments)
