import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="optuna is not installed; the benchmark compares with its pruners")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "early_stopping.py"


def test_jpo_stops_runs_of_the_digits_example_and_never_the_best():
    options = ["--orders", "2", "--families", "digits,digits-again", "--policies", "none,jpo,median", "--json"]
    run = subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=True, cwd=SCRIPT.parents[1]
    )
    rows = {(row["policy"], row["curves"]): row for row in json.loads(run.stdout)}
    assert rows["none", "all"]["share"] == 1
    assert rows["jpo", "all"]["share"] <= 0.6
    assert rows["jpo", "all"]["best_stopped"] == 0
    assert rows["median", "all"]["plays"] == 4


def test_every_recorded_run_has_what_a_play_needs():
    for file in sorted((SCRIPT.parent / "curves").glob("*.json")):
        for run in json.loads(file.read_text(encoding="utf-8"))["runs"]:
            assert run["seconds"] > 0
            assert 0 < len(run["val_loss"]) <= run["parameters"]["epochs"]
