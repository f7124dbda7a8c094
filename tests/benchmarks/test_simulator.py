"""The simulator benchmark: that it runs, and that its claim is computed as the text says. Speed itself is not tested."""

from __future__ import annotations

import json
import math
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jpo.records import Draws
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import observe
from tests.simulate.test_runs import DRAWS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "simulator.py"
SIMULATOR = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_one_round_measures_all_ways_and_computes_the_claim() -> None:
    command = [sys.executable, SCRIPT, "--jobs", "50", "--runs", "4", "--rounds", "1", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    figures = json.loads(result.stdout)
    assert min(figures["runs_per_second"].values()) > 0
    held = figures["runs_per_second"]["drawn and run in a batch"] >= 200_000
    assert (result.returncode == 0) == figures["holds"] == held


def test_the_table_gives_ratios_to_the_loop() -> None:
    text = SIMULATOR["table"]({"drawn and run in a batch": 300_000.0, "run one by one": 100_000.0}, 10, 2, True)
    assert "| drawn and run in a batch | 300,000 | 3.0 |" in text
    assert "holds." in text


def test_both_ways_make_the_same_number_of_runs_and_failures() -> None:
    grid = random_candidates(np.random.default_rng(0))
    draws = draw_jobs(grid, 400, np.random.default_rng(0))
    batch, loop = (SIMULATOR[way](draws, grid, 10, np.random.default_rng(1)) for way in ("run_batch", "run_loop"))
    assert abs(batch - loop) < 0.2 * loop


@pytest.mark.parametrize("candidate", [0, 1, 2])
def test_a_batch_of_one_is_the_single_run(candidate: int) -> None:
    single = observe(DRAWS, 0, candidate, np.random.default_rng(3), noise=0.1)
    log_time, log_loss, log_utilisation, failed = SIMULATOR["observe_batch"](
        DRAWS, np.array([0]), np.array([candidate]), np.random.default_rng(3), noise=np.array([0.1])
    )
    assert (log_time[0], log_loss[0]) == pytest.approx((single.log_time, single.log_loss))
    assert log_utilisation[0] == pytest.approx(single.log_utilisation)
    assert failed[0] == single.failed


def test_a_batch_takes_each_run_from_its_own_job_and_candidate() -> None:
    stacked = Draws(
        *(
            np.vstack([getattr(DRAWS, name), getattr(DRAWS, name)[:, ::-1]])
            for name in ("log_time", "log_loss", "log_utilisation", "log_power", "fails")
        )
    )
    log_time, _, _, failed = SIMULATOR["observe_batch"](
        stacked, np.array([0, 1, 1]), np.array([1, 1, 0]), np.random.default_rng(0), noise=np.zeros(3)
    )
    assert log_time == pytest.approx([-1.0, -1.0, math.log(2)])
    assert failed.tolist() == [False, False, True]


def test_a_batch_has_the_noise_and_the_crashes_of_single_runs() -> None:
    first = np.zeros(20_000, dtype=np.int64)
    log_time, _, _, failed = SIMULATOR["observe_batch"](DRAWS, first, first, np.random.default_rng(0), noise=np.full(20_000, 0.1))
    assert np.std(log_time) == pytest.approx(0.1, rel=0.03)
    assert failed.mean() == pytest.approx(0.01, abs=0.003)


def test_noises_of_many_jobs_are_drawn_like_that_of_one() -> None:
    noises = SIMULATOR["draw_noises"](np.random.default_rng(0), 20_000)
    assert (noises == 0).mean() == pytest.approx(0.3, abs=0.02)
    assert noises[noises > 0].mean() == pytest.approx(0.075, abs=0.003)
    assert noises.max() <= 0.15
