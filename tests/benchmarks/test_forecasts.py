"""The forecast benchmark: that it runs, that its figures are what the text says, and that peers get what they need."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "forecasts.py"
FORECASTS = runpy.run_path(str(SCRIPT))
JOBS = runpy.run_path(str(SCRIPT.parent / "apparatus" / "forecast_jobs.py"))


def test_every_method_forecasts_the_same_unseen_configurations() -> None:
    jobs = [JOBS["from_formula"](seed) for seed in range(3)]
    rows = FORECASTS["figures"]("formula", FORECASTS["measure"]("formula", jobs, 1))
    assert {row["forecast"] for row in rows} == {"duration_seconds"}  # the formula has no loss
    assert [row["method"] for row in rows] == list(FORECASTS["METHODS"]) * 3
    assert {row["forecasts"] for row in rows} == {3 * FORECASTS["MOST_ASKED"]}
    best = {
        row["observed"]: min(r["ratio"] for r in rows if r["observed"] == row["observed"] and "jpo" not in r["method"])
        for row in rows
    }
    assert best == {1: 1, 3: 1, 5: 1}
    text = FORECASTS["page"](rows)
    assert "| formula (3) | 3 | jpo, others known |" in text
    assert "Aim, durations from 3 observations at 0.5 of the best peer" in text


def test_with_one_observation_all_peers_say_as_today() -> None:
    job = JOBS["from_formula"](0)
    said = FORECASTS["peers"](job.candidates, [job.candidates.current], np.array([np.log(50)]), [0, 7], 0)
    assert [interval.mean for intervals in said.values() for interval in intervals] == pytest.approx([50] * 6)
    assert said["GP in logs"][0].low < 50 < said["GP in logs"][0].high


def test_a_plane_is_followed_by_the_plane() -> None:
    at = np.array([[x, y] for x in range(5) for y in range(5)], dtype=float)
    logs = 1 + 0.3 * at[:, 0] - 0.2 * at[:, 1]
    assert FORECASTS["plane"](at, logs, np.array([[10.0, 0.0]])) == pytest.approx([4.0], abs=0.05)


def test_each_job_counts_the_same_in_the_median() -> None:
    assert FORECASTS["fair_median"]([[0.1] * 100, [0.5], [0.6]]) == 0.5
