from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jpo.records import Identity, Outcome, Run, RunStatus
from jpo.report.fleet_json import render as as_json
from jpo.report.fleet_text import arrow, cell, render
from jpo.report.plots.fleet import plot, ratios
from jpo.simulate.fleet import Fleet, Lane, all_runs, before_after, change, overall, per_model, worse

GOOD, BAD = RunStatus.SUCCEEDED, RunStatus.OOM_KILLED


def run(seconds: float, status: RunStatus = GOOD, **measured: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, cost_usd=seconds / 100, **measured)  # type: ignore[arg-type]
    return Run("r", Identity("d", "m", "f"), {"batch_size": 32.0}, status, None, 1.0, outcome, "observe")


def lane(unchanged: list[Run], tuned: list[Run], goal: float | None = 1.0) -> Lane:
    return Lane("dataset-00/m/f", {"batch_size": 32.0}, tuple(unchanged), tuple(tuned), goal, 0.5)


def fleet(*lanes: Lane, last: int = 2) -> Fleet:
    return Fleet(lanes, len(lanes[0].tuned), last, 0, False, "safe", {"time": 0.5, "cost": 0.5})


def test_medians_are_over_the_last_runs_that_ended_well() -> None:
    workload = lane([run(100), run(100), run(120)], [run(100), run(10, BAD), run(60)])
    assert before_after(workload, "duration_seconds", 2) == (110, 60)
    assert change(workload, "duration_seconds", 2) == pytest.approx(60 / 110)
    assert before_after(workload, "val_loss", 2) == (None, None)


def test_failed_runs_are_paid_for() -> None:
    assert per_model([run(100), run(50, BAD)], "duration_seconds") == 150
    assert per_model([run(50, BAD)], "cost_usd") is None
    unchanged, tuned = all_runs(fleet(lane([run(3600)] * 2, [run(3600), run(3600, BAD)])))
    assert (unchanged.failed, tuned.failed, tuned.hours) == (0, 1, 2)
    assert tuned.usd_per_model == 72


def test_a_workload_whose_last_runs_all_failed_is_worse() -> None:
    bad = lane([run(100)] * 2, [run(50, BAD)] * 2, goal=None)
    simulated = fleet(bad, lane([run(100)] * 2, [run(90)] * 2, goal=0.9), lane([run(100)] * 2, [run(102)] * 2, goal=1.02))
    assert (worse(simulated), worse(simulated, than=1.05)) == (2, 1)
    assert "fails" in render(simulated)


def test_the_overall_change_is_a_median_with_its_interval() -> None:
    simulated = fleet(*(lane([run(100)] * 2, [run(seconds)] * 2) for seconds in (50, 80, 90)))
    interval = overall(simulated, "duration_seconds")
    assert interval is not None
    assert (interval.mean, interval.low, interval.high) == (0.8, 0.5, 0.9)
    assert overall(simulated, "val_loss") is None


def test_a_failed_run_in_the_picture_counts_one_unchanged_run_more() -> None:
    workload = lane([run(100), run(100), run(30, BAD)], [run(50), run(20, BAD), run(80)])
    assert ratios(fleet(workload), "duration_seconds") == pytest.approx(np.array([[0.5, 1.2, 0.8]]))


@pytest.mark.parametrize("lanes", [1, 3])
def test_every_form_renders_with_nothing_but_failures(lanes: int, tmp_path: Path) -> None:
    simulated = fleet(*(lane([run(5, BAD)] * 2, [run(5, BAD)] * 2, goal=None) for _ in range(lanes)))
    assert "fails" in render(simulated)
    assert '"usd_per_model": null' in as_json(simulated)
    plot(simulated, tmp_path / "fleet.png")
    assert (tmp_path / "fleet.png").read_bytes()[:4] == b"\x89PNG"


def test_numbers_share_one_unit_and_stay_short() -> None:
    assert arrow("duration_seconds", 7200.0, 1800.0) == "2 → 0.5 h"
    assert arrow("gpu_utilisation", 0.054, 0.78) == "5 → 78%"
    assert arrow("val_loss", None, 0.08231) == "– → 0.0823"
    assert arrow("cost_usd", 1234.5, 99.94) == "1,234 → 100"
    assert cell("energy_joules", 3.6e6) == "1 kWh"


def test_twenty_usual_workloads_fit_into_100_columns() -> None:
    measured = {"gpu_utilisation": 0.99, "cpu_utilisation": 0.99, "val_loss": 0.0823}
    simulated = fleet(lane([run(7000, **measured)] * 2, [run(6500, **measured)] * 2, goal=0.5))
    assert max(map(len, render(simulated, width=100).split("\n"))) <= 100
    assert "…" not in render(simulated, width=100)
