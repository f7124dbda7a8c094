from __future__ import annotations

from dataclasses import replace

import pytest
from fleets import BAD, fleet, lane, run

from jpo.plugins.lab.fleet import (
    Lane,
    against,
    all_runs,
    before_after,
    change,
    failures,
    later,
    overall,
    paid,
    per_model,
    share_decided_by,
    typical_goal,
    typical_paid,
    worse,
)
from jpo.records import Outcome


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


def took(*seconds: float) -> Lane:
    return lane([run(100)] * len(seconds), [run(each) for each in seconds])


def test_two_policies_are_compared_workload_by_workload() -> None:
    ours, theirs = fleet(took(50, 50), took(90, 90)), fleet(took(100, 100), took(90, 90))
    ratio = against(ours, theirs)
    assert (ratio.mean, ratio.low, ratio.high) == pytest.approx((0.5**0.5, 0.5, 1.0))


def test_what_was_paid_counts_failed_runs_twice_and_none_more_than_four_times() -> None:
    some = fleet(lane([run(100)] * 2, [run(40), run(60, BAD)]), took(100, 900))
    assert paid(some) == pytest.approx([(0.4 + 1.6) / 2, (1 + 4) / 2])
    assert typical_paid(some) == pytest.approx(2.5**0.5)
    ended = [lane([run(100)], [run(90)], goal=goal) for goal in (None, 9.0)]
    assert typical_goal(fleet(*ended, last=1)) == pytest.approx(4.0)


def test_time_and_money_are_weighed_as_preferred() -> None:
    cheaper = replace(run(100), outcome=Outcome(duration_seconds=100.0, cost_usd=0.25))
    some = fleet(lane([run(100)], [cheaper]), last=1)
    weighed = [paid(replace(some, preference={"time": time, "cost": 1 - time}))[0] for time in (1.0, 0.5, 0.0)]
    assert weighed == pytest.approx([1.0, 0.5, 0.25])


def test_later_workloads_are_those_after_the_first_twenty_where_they_ran_in_turn() -> None:
    some = fleet(*[took(100, 100)] * 20, took(50, 50))
    assert later(some) is None
    rest = later(replace(some, installation="none"))
    assert rest is not None
    assert rest.lanes == some.lanes[20:]
    assert later(replace(some, lanes=some.lanes[:20], installation="none")) is None


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
