"""The benchmark of learning: that it runs, and that it stops and judges as its text says."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

for package in ("torch", "stable_baselines3", "gymnasium"):
    pytest.importorskip(package, reason=f"{package} is not installed; the comparison needs it")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pendulum.py"
PENDULUM = runpy.run_path(str(SCRIPT))
OURS = PENDULUM["OURS"]


def at_rest(_: np.ndarray) -> np.ndarray:
    return np.zeros(1, np.float32)


@pytest.mark.slow
def test_a_quick_run_trains_all_three() -> None:
    result = subprocess.run([sys.executable, SCRIPT, "--quick", "--json"], capture_output=True, text=True, check=False)
    figures = json.loads(result.stdout)
    assert set(figures["curves"]) == set(PENDULUM["LEARNERS"])
    assert all([step for step, _ in curves[0]] == [60, 120] for curves in figures["curves"].values())
    assert (result.returncode == 0) == figures["holds"]


def test_evaluations_come_at_their_time_from_new_starts_and_end_at_the_goal() -> None:
    progress = PENDULUM["Progress"](every=250, episodes=2)
    assert not progress.reached(100, at_rest)
    assert not progress.reached(250, at_rest)
    assert not progress.reached(500, at_rest)
    assert [step for step, _ in progress.curve] == [250, 500]
    assert progress.curve[0][1] != progress.curve[1][1]
    assert progress.steps is None
    progress.curve.append((750, -200.0))
    assert progress.steps == 750


def test_an_episode_is_the_same_each_time() -> None:
    first, again, other = (PENDULUM["episode"](at_rest, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert -2000 < first < -200


@pytest.mark.parametrize(("steps", "holds"), [([750, 1500], True), ([750, 1750], False), ([750, None], False)])
def test_every_seed_must_reach_the_target(steps: list[int | None], holds: bool) -> None:
    assert PENDULUM["claim"]({OURS: steps}) is holds


def test_the_table_shows_every_seed() -> None:
    shown = PENDULUM["table"]({OURS: [750, None]}, 6000, False)
    assert "| JPO | 750 / > 6000 |" in shown
    assert "DOES NOT HOLD" in shown
