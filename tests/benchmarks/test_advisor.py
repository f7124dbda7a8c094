"""The advisor's benchmark: that it runs, and that its claim is computed as the text says."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "advisor.py"
ADVISOR = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_one_round_measures_jpo_and_its_peers() -> None:
    pytest.importorskip("optuna", reason="optuna is not installed")
    command = [sys.executable, SCRIPT, "--repeat", "1", "--runs", "0", "3", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(SCRIPT.parents[1])})
    figures = json.loads(result.stdout)
    assert list(figures["cpu_milliseconds"]) == ["0", "3"]
    assert set(figures["cpu_milliseconds"]["3"]) == {"jpo", "jpo, first", "optuna GPSampler", "optuna TPESampler"}
    assert min(figures["cpu_milliseconds"]["3"].values()) > 0
    assert (result.returncode, figures["holds"]) == (0, True)  # nothing was promised for so few runs


@pytest.mark.parametrize(("after_40", "after_1000", "holds"), [(20, 100, True), (20.1, 1, False), (1, 100.1, False)])
def test_the_claim_is_twenty_milliseconds_after_forty_runs_and_a_hundred_after_a_thousand(
    after_40: float, after_1000: float, holds: bool
) -> None:
    assert ADVISOR["claim"]({40: {"jpo": after_40, "jpo, first": 999}, 1000: {"jpo": after_1000}}) is holds
    assert ("DOES NOT HOLD" in ADVISOR["table"]({40: {"jpo": after_40}}, holds)) != holds


def test_the_history_begins_with_today_and_repeats() -> None:
    first = ADVISOR["history"](40)
    assert (len(first), first[0]) == (40, ({"batch_size": 32, "gpus": 1}, 100.0))
    assert first == ADVISOR["history"](40)
    assert ADVISOR["history"](0) == []
