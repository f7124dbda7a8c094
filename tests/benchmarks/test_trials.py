import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "trials.py"


def answer(*options):
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    run = subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_the_claim_is_computed_for_every_way_to_try():
    rows = json.loads(answer("--only", "simulated", "--jobs", "6", "--json"))
    ways = [row["trials"] for row in rows]
    assert "10% of the epochs" in ways
    assert any("told apart" in way for way in ways)
    for row in rows:
        assert row["within_15_percent"] == (row["median_error"] <= 0.15)
        assert 0 <= row["inside_90"] <= 1


@pytest.mark.slow
def test_the_digits_example_is_really_run():
    pytest.importorskip("torch", reason="torch is not installed; the example needs it")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed; the example needs it")
    out = answer("--only", "digits", "--configurations", "1", "--repeats", "1", "--epochs", "4")
    lines = [line for line in out.splitlines() if line.startswith("| digits |")]
    assert len(lines) == 5
    assert all("| 1 |" in line for line in lines)
