import json
import subprocess
import sys
from pathlib import Path

import pytest

from jpo.learning.release import SITUATIONS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "scenarios.py"


def answer(*options):
    run = subprocess.run([sys.executable, str(SCRIPT), "--quick", *options], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_table_has_a_row_for_every_situation_and_a_verdict():
    out = answer()
    assert [row.split("**")[1] for row in out.splitlines() if row.startswith("| **")] == list(SITUATIONS)
    assert "Better than the rule by more than the spread" in out
    assert len({row.count("|") for row in out.splitlines() if row.startswith("|")}) == 1


def test_the_alternatives_play_the_same_jobs():
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    figures = json.loads(answer("--compare", "--json"))
    assert set(figures["drift"]) >= {"SAC", "seed 0", "REINFORCE", "one per preference", "timed resets", "MC-dropout"}
    assert len({row["rule"] for row in figures["drift"].values()}) == 1
