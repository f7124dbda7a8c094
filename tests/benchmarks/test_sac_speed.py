"""The benchmark of updates: that it runs, that its claim is computed as the text says; and the adapter it shares with others."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SPEED = runpy.run_path(str(BENCHMARKS / "sac_speed.py"))
make = runpy.run_path(str(BENCHMARKS / "sac_adapter.py"))["make"]


@pytest.mark.slow
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
