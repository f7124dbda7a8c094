"""The soft actor-critic behind three methods: what it takes, what it refuses, and that a seed repeats it."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

make = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "sac_adapter.py"))["make"]


@pytest.mark.parametrize("hidden", [8, (8, 8), [8, 16, 8]])
def test_the_adapter_takes_what_callers_have(hidden: int | tuple[int, ...]) -> None:
    agent = make(3, 2, hidden, 0)
    agent.add([0.0, 0.1, 0.2], (0.5, -0.5), -1, np.ones(3), False)
    agent.add(np.zeros(3, np.float32), np.zeros(2), np.float64(-2), [1, 2, 3], done=np.bool_(True))
    agent.add(np.zeros((4, 3)), np.zeros((4, 2)), np.ones(4), np.zeros((4, 3)), np.zeros(4, bool))
    assert agent.replay.size == 6
    assert agent.replay.rows[:6, -1].tolist() == [1, 0, 1, 1, 1, 1]
    agent.update()
    agent.update(16)
    assert agent.act([0, 0, 0]).shape == (2,)
    assert np.abs(agent.act(1000 * np.ones((5, 3)), deterministic=True)).max() <= 1


def test_a_plain_number_is_an_action_where_there_is_one() -> None:
    agent = make(3, 1, (8, 8), 0)
    agent.add([0, 0, 0], 0.25, -1.0, [0, 0, 0], True)
    assert agent.replay.rows[0].tolist() == [0, 0, 0, 0.25, 0, 0, 0, -1, 0]


def test_the_adapter_refuses_what_cannot_be_learnt_from() -> None:
    agent = make(3, 1, (8, 8), 0)
    with pytest.raises(ValueError, match=r"call add\(\) before update\(\)"):
        agent.update()
    with pytest.raises(ValueError, match="not finite"):
        agent.add([0, 0, np.nan], [0], -1, [0, 0, 0], False)
    with pytest.raises(ValueError, match="reshape"):
        agent.add([0, 0], [0], -1, [0, 0, 0], False)


def test_one_seed_gives_one_agent() -> None:
    def trained(seed: int) -> list[float]:
        agent = make(3, 1, (8, 8), seed)
        for obs in np.random.default_rng(0).normal(size=(20, 3)):
            agent.add(obs, agent.act(obs), -1.0, obs, False)
            agent.update(8)
        actions: list[float] = agent.act(np.eye(3)).ravel().tolist()
        return actions

    assert trained(0) == trained(0) != trained(1)
