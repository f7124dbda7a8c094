"""The benchmark of coverage: that it runs, and that its shares are those of the forecasts."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "calibration.py"
CALIBRATION = runpy.run_path(str(SCRIPT))


def test_it_runs_without_recorded_jobs(tmp_path: Path) -> None:
    command = [sys.executable, SCRIPT, "--jobs", "3", "--traces", tmp_path, "--json"]
    rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert {row["jobs"] for row in rows} == {"simulated"}
    assert all(0 <= row["50%"] <= row["80%"] <= row["90%"] <= 1 for row in rows)


def test_each_recorded_job_counts_the_same() -> None:
    hits = {
        ("one", "duration", 3): [(True, True, True)] * 3 + [(False, True, True)],
        ("two", "duration", 3): [(False, False, True)],
    }
    rows = CALIBRATION["coverage"](hits)
    assert rows[0] == {
        "jobs": "one",
        "forecast": "duration",
        "after runs": 3,
        "50%": 0.75,
        "80%": 1.0,
        "90%": 1.0,
        "forecasts": 4,
    }
    assert rows[-1] == {
        "jobs": "all recorded",
        "forecast": "duration",
        "after runs": 3,
        "50%": 0.375,
        "80%": 0.5,
        "90%": 1.0,
        "forecasts": 5,
    }
