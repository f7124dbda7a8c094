"""The simulator benchmark: that it runs, and that its claim is computed as the text says. Speed itself is not tested."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "simulator.py"
SIMULATOR = runpy.run_path(str(SCRIPT))


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
    import numpy as np

    from jpo.simulate import draw_jobs, random_candidates

    grid = random_candidates(np.random.default_rng(0))
    draws = draw_jobs(grid, 400, np.random.default_rng(0))
    batch, loop = (SIMULATOR[way](draws, grid, 10, np.random.default_rng(1)) for way in ("run_batch", "run_loop"))
    assert abs(batch - loop) < 0.2 * loop
