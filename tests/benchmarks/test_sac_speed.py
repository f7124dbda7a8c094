"""The benchmark of updates: that it runs, that its claim is computed as the text says; and the adapter it shares with others."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SPEED = runpy.run_path(str(BENCHMARKS / "sac_speed.py"))
make = runpy.run_path(str(BENCHMARKS / "sac_adapter.py"))["make"]


def test_one_round_measures_both_and_computes_the_claim() -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed; it is the peer")
    command = [sys.executable, BENCHMARKS / "sac_speed.py", "--rounds", "1", "--updates", "20", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = json.loads(result.stdout)
    assert set(figures["updates_per_second"]) == {SPEED["OURS"], SPEED["PEER"]}
    assert (result.returncode == 0) == figures["holds"] == (figures["ratios"][0] >= figures["least"])


def test_the_claim_is_the_median_of_the_ratios_of_each_round() -> None:
    ours, theirs = [400.0, 500.0, 900.0], [100.0, 100.0, 100.0]
    ratios, holds = SPEED["claim"]({SPEED["OURS"]: ours, SPEED["PEER"]: theirs})
    assert (ratios, holds) == ([4.0, 5.0, 9.0], True)
    assert not SPEED["claim"]({SPEED["OURS"]: [399.0, 399.0, 900.0], SPEED["PEER"]: theirs})[1]


def test_the_table_says_median_and_spread() -> None:
    measured = {SPEED["PEER"]: [100.0, 100.0, 110.0], SPEED["OURS"]: [400.0, 500.0, 1100.0]}
    shown = SPEED["table"](measured, [4.0, 5.0, 10.0], 300, True)
    assert "| JPO | 500 | 400 to 1,100 |" in shown
    assert "5.00 times as many updates (4.00 to 10.00 in 3 rounds)" in shown


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
