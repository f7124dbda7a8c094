from __future__ import annotations

import pytest
from fleets import BAD, fleet, lane, run

from jpo.simulate.fleet import all_runs, before_after, change, failures, overall, per_model, worse


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
    assert (tuned.usd_per_model, tuned.duration_seconds) == (72, 7200)
    assert failures(lane([run(100)] * 2, [run(50, BAD), run(9)])) == (0, 1)


def test_a_workload_whose_last_runs_all_failed_is_worse() -> None:
    bad = lane([run(100)] * 2, [run(50, BAD)] * 2, goal=None)
    simulated = fleet(bad, lane([run(100)] * 2, [run(90)] * 2, goal=0.9), lane([run(100)] * 2, [run(102)] * 2, goal=1.02))
    assert (worse(simulated), worse(simulated, than=1.05)) == (2, 1)


def test_the_overall_change_is_a_median_with_its_interval() -> None:
    simulated = fleet(*(lane([run(100)] * 2, [run(seconds)] * 2) for seconds in (50, 80, 90)))
    interval = overall(simulated, "duration_seconds")
    assert interval is not None
    assert (interval.mean, interval.low, interval.high) == (0.8, 0.5, 0.9)
    assert overall(simulated, "val_loss") is None
