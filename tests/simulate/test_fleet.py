from __future__ import annotations

from dataclasses import replace

import pytest
from fleets import BAD, fleet, lane, run

from jpo.simulate.fleet import (
    Lane,
    against,
    all_runs,
    before_after,
    change,
    failures,
    overall,
    per_model,
    share_decided_by,
    typical_goal,
    worse,
)


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


def test_two_policies_are_compared_workload_by_workload() -> None:
    def ended(goal: float | None) -> Lane:
        return lane([run(100)] * 2, [run(90)] * 2, goal=goal)

    ours, theirs = fleet(ended(0.5), ended(0.9)), fleet(ended(1.0), ended(0.9))
    ratio = against(ours, theirs)
    assert (ratio.mean, ratio.low, ratio.high) == pytest.approx((0.5**0.5, 0.5, 1.0))
    assert typical_goal(fleet(ended(None), ended(9.0))) == pytest.approx(4.0), "each counts at most four times"


def test_who_decided_is_a_share_of_the_suggestions() -> None:
    some = replace(fleet(lane([run(100)], [run(90)]), last=1), decided_by={"sac": 3, "belief": 1})
    assert (share_decided_by(some, "sac"), share_decided_by(some, "user")) == (0.75, 0.0)
    assert share_decided_by(fleet(lane([run(100)], [run(90)]), last=1), "sac") is None


def test_the_overall_change_is_a_median_with_its_interval() -> None:
    simulated = fleet(*(lane([run(100)] * 2, [run(seconds)] * 2) for seconds in (50, 80, 90)))
    interval = overall(simulated, "duration_seconds")
    assert interval is not None
    assert (interval.mean, interval.low, interval.high) == (0.8, 0.5, 0.9)
    assert overall(simulated, "val_loss") is None
