import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pareto.py"


@pytest.mark.slow
def test_volumes_agree_with_optunas_and_each_preference_has_its_rows():
    pytest.importorskip("optuna", reason="optuna is not installed; the benchmark compares with it")
    run = subprocess.run([sys.executable, str(SCRIPT), "--quick", "--json"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    assert all(volume["ours"] == pytest.approx(volume["optuna"]) for volume in figures["hypervolume"])
    assert {row["decider"] for row in figures["preferences"]} == {"one agent", "belief rule"}
    assert all(row["time"] > 0 and row["cost"] > 0 for row in figures["preferences"])
