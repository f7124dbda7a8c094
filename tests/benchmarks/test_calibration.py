"""The benchmark of calibration: that it runs, and that its figures are those of the forecasts and claims."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "calibration.py"
CALIBRATION = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_it_runs_without_recorded_jobs(tmp_path: Path) -> None:
    command = [sys.executable, SCRIPT, "--jobs", "4", "--traces", tmp_path, "--json"]
    rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert {row["jobs"] for row in rows} == {"simulated"}
    intervals, claims = [row for row in rows if "interval" in row], [row for row in rows if "claim" in row]
    runs = [row for row in intervals if "difference" not in row["interval"]]
    assert {row["interval"] for row in runs} == {"duration_seconds", "val_loss", "val_accuracy"}
    assert all(0 <= row["50%"] <= row["80%"] <= row["90%"] <= 1 for row in runs)
    assert "difference of duration_seconds, ran" in {row["interval"] for row in intervals}
    named = {"ends well", "quality kept", "no more than a tenth dearer", "better than today"}
    assert {row["claim"] for row in claims} == named
    assert all(sum(cases for _, _, cases in row["diagram"]) == row["cases"] for row in claims)


def test_of_nights_the_claims_of_changes_and_the_last_track_records_count() -> None:
    def outcome(ratio: float) -> dict[str, object]:
        return {"ends": "succeeded", "ratio": ratio, "loss_ratio": 1.0}

    written = {"then": outcome(1.05), "today": outcome(1.0), "chances": {"better than today": 0.8, "ends well": 0.9}}
    kept = {"written": None, "track": {"val_loss": [9, 10]}}
    found = CALIBRATION["Found"]()
    CALIBRATION["of_nights"]({"nights": {"jpo": {"a": [{"written": written, "track": {}}, kept]}}}, found)
    assert found.claims == {("nights", "better than today"): [(0.8, False)], ("nights", "ends well"): [(0.9, True)]}
    (row,) = CALIBRATION["coverage"](found)
    assert row == {"jobs": "nights", "interval": "val_loss", "90%": 0.9, "forecasts": 10}
