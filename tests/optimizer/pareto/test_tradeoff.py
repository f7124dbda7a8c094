from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made import a_run

from jpo.cost import Prices, comparison
from jpo.errors import UsageError
from jpo.optimizer.pareto.front import Unshown
from jpo.optimizer.pareto.tradeoff import axes_of, coordinates, on_show, trade_off, volumes
from jpo.optimizer.surrogate import Surrogate, surrogate_of
from jpo.records import Known, Outcome, Preference, Quality, Run, RunStatus
from tests.asked import a_request

TODAY = {"batch_size": 16.0, "cpus": 2.0}
TIME_COST = {"time": "duration_seconds", "cost": "cost_usd"}


def run(batch_size: float, seconds: float | None, number: int = 0, **measured: Any) -> Run:
    outcome = Outcome(duration_seconds=seconds, **measured)
    return a_run(f"r{batch_size}-{number}", 200.0 + number, parameters={**TODAY, "batch_size": batch_size}, outcome=outcome)


def ahead_of(*runs: Run, prices: Prices | None = None) -> Surrogate:
    request = a_request(
        TODAY, ["batch_size"], lambda _today, proposed: proposed["batch_size"] <= 256, Preference(), prices or Prices()
    )
    return surrogate_of(request, Known(tuple(runs)), seed=0)


PRICED = Prices(usd_per_cpu_hour=0.5)
"""Two CPUs cost a dollar an hour."""
RUNS = (run(16, 3600, 1), run(16, 3000, 2), run(16, 9000, 3), run(64, 1800, 4))


def test_a_fact_is_the_median_of_its_runs_with_their_number() -> None:
    facts = trade_off(ahead_of(*RUNS, prices=PRICED), TIME_COST, {}).facts
    found = {point.parameters["batch_size"]: (point.runs, dict(point.values)) for point in facts.values()}
    assert found == {
        16.0: (3, {"duration_seconds": 3600.0, "cost_usd": 1.0}),
        64.0: (1, {"duration_seconds": 1800.0, "cost_usd": 0.5}),
    }


def test_a_run_that_lacks_a_measurement_or_failed_is_counted_and_no_fact() -> None:
    failed = replace(run(32, 100, 8), status=RunStatus.FAILED)
    found = trade_off(ahead_of(*RUNS, run(32, 2400, 5), failed), {"time": "duration_seconds", "loss": "val_loss"}, {})
    assert found.facts == {}
    assert dict(found.left_out)[Unshown("unmeasured", ("val_loss",))] == 5
    assert dict(found.left_out)[Unshown("failed")] == 1


def test_a_measured_cost_counts_more_than_the_price() -> None:
    found = trade_off(ahead_of(run(16, 3600, cost_usd=7.0), prices=PRICED), TIME_COST, {})
    assert [point.values["cost_usd"] for point in found.facts.values()] == [7.0]


def test_what_a_run_does_not_report_of_itself_had_todays_price() -> None:
    found = trade_off(ahead_of(replace(run(16, 3600), parameters={"batch_size": 16.0}), prices=PRICED), TIME_COST, {})
    assert [point.values["cost_usd"] for point in found.facts.values()] == [1.0]


def test_a_configuration_is_measured_or_predicted_and_never_both() -> None:
    found = trade_off(ahead_of(*RUNS, prices=PRICED), TIME_COST, {})
    assert found.guesses
    assert not set(found.facts) & set(found.guesses)
    assert all(point.runs == 0 and set(point.bounds) == set(TIME_COST.values()) for point in found.guesses.values())


def test_what_would_probably_fail_is_no_choice() -> None:
    surrogate = ahead_of(*RUNS, prices=PRICED)
    assert trade_off(surrogate, TIME_COST, {}).guesses
    doomed = replace(surrogate, belief=replace(surrogate.belief, p_fail=np.ones_like(surrogate.belief.p_fail)))
    found = trade_off(doomed, TIME_COST, {})
    assert not found.guesses
    assert Unshown("risky") in found.left_out


def test_nothing_is_predicted_before_the_first_run() -> None:
    found = trade_off(ahead_of(prices=PRICED), TIME_COST, {})
    assert (found.facts, found.guesses, dict(found.left_out)) == ({}, {}, {})
    assert volumes(found, {}) is None
    assert volumes(found, {"duration_seconds": 60.0}) is None, "half a reference point is none"
    points, _ = on_show(found, {0: ["today"]}, {})
    assert [(point.marks, dict(point.values)) for point in points] == [(("today",), {})]


def test_a_measured_point_can_be_on_the_front_of_facts_and_behind_a_prediction() -> None:
    found = trade_off(ahead_of(*RUNS, prices=PRICED), TIME_COST, {})
    points, _ = on_show(found, {0: ["today"]}, {})
    fact = next(point for point in points if point.runs and point.on_front)
    assert fact.parameters["batch_size"] == 64.0
    better = [point for point in points if not point.runs and point.values["duration_seconds"] < 1800]
    assert better
    assert not fact.on_expected_front
    assert all(point.on_expected_front for point in better)


def test_of_the_predicted_points_only_the_front_and_what_is_marked_is_shown() -> None:
    found = trade_off(ahead_of(*RUNS, prices=PRICED), TIME_COST, {})
    behind = next(row for row, point in found.guesses.items() if point.values["duration_seconds"] > 3600)
    shown = {point.parameters["batch_size"] for point in on_show(found, {}, {})[0]}
    marked, _ = on_show(found, {}, {"cost": behind})
    assert found.guesses[behind].parameters["batch_size"] not in shown
    assert [point.on_expected_front for point in marked if "cost" in point.preferred] == [False]


def test_what_an_hour_is_worth_says_of_each_point_whether_its_trade_is_acceptable() -> None:
    request = a_request(TODAY, ["cpus"], lambda _today, proposed: proposed["cpus"] <= 8, Preference(), PRICED)
    more = [replace(run(16, 1800, at), parameters={**TODAY, "cpus": 8.0}) for at in (5, 6)]  # half the time, twice the cost
    surrogate = surrogate_of(request, Known((*RUNS[:2], *more)), seed=0)
    tradeoff = trade_off(surrogate, TIME_COST, {})
    for worth, acceptable in ((0.01, False), (1000.0, True)):
        points, _ = on_show(tradeoff, {}, {}, worth)
        for point in points:
            expected = surrogate.forecast(surrogate.row(point.parameters))
            assert point.trade == comparison.trade_off(surrogate.forecast(surrogate.candidates.current), expected, worth)
        trades = [point.trade for point in points if point.trade and point.trade.saves_time]
        assert trades
        assert all(trade.acceptable is acceptable for trade in trades)
    assert all(point.trade is None for point in on_show(tradeoff, {}, {})[0]), "nobody said what an hour is worth"


def test_a_target_that_is_not_kept_is_named() -> None:
    found = trade_off(ahead_of(*RUNS, prices=PRICED), TIME_COST, {"time_max": 2000.0})
    assert {point.parameters["batch_size"]: point.breaks for point in found.facts.values()} == {16.0: ("time_max",), 64.0: ()}


def test_the_volume_is_that_of_the_facts_up_to_a_tenth_beyond_the_worst() -> None:
    found = trade_off(ahead_of(*RUNS, prices=PRICED), TIME_COST, {})
    told = volumes(found, {})
    assert told is not None
    assert told.reference == pytest.approx({"duration_seconds": 3960.0, "cost_usd": 1.1})
    assert told.measured == pytest.approx((3960 - 1800) * (1.1 - 0.5))
    assert told.measured <= told.unlucky <= told.expected


def test_utilisation_is_better_the_higher_it_is() -> None:
    runs = (run(16, 100, cpu_utilisation=0.5), run(64, 200, cpu_utilisation=0.9), run(32, 300, cpu_utilisation=0.4))
    axes, note = axes_of(["time", "efficiency"], ahead_of(*runs))
    found = trade_off(ahead_of(*runs), axes, {})
    assert (axes, note) == ({"time": "duration_seconds", "efficiency": "cpu_utilisation"}, None)
    best = {point.parameters["batch_size"] for point in on_show(found, {}, {})[0] if point.on_front}
    assert best == {16.0, 64.0}
    told = volumes(found, {"cpu_utilisation": 0.3, "duration_seconds": 400.0})
    assert told is not None
    assert told.reference == {"duration_seconds": 400.0, "cpu_utilisation": 0.3}
    assert told.measured == pytest.approx(300 * 0.2 + 200 * 0.4)


@pytest.mark.parametrize(("more_is_better", "front"), [(True, {16.0, 64.0}), (False, {16.0, 32.0})])
def test_a_metric_of_the_users_own_is_an_axis_with_its_own_direction(more_is_better: bool, front: set[float]) -> None:
    f1 = Quality("f1", more_is_better, 1.0 if more_is_better else None)
    runs = [run(batch, at, metrics={"f1": value}) for batch, at, value in ((16, 100, 0.5), (64, 200, 0.9), (32, 300, 0.4))]
    axes, note = axes_of(["time", "f1"], ahead_of(*runs), f1)
    found = trade_off(ahead_of(*runs), axes, {}, f1)
    assert (axes, note) == ({"time": "duration_seconds", "f1": "f1"}, None)
    assert {point.parameters["batch_size"] for point in on_show(found, {}, {})[0] if point.on_front} == front
    assert list(axes_of(None, ahead_of(*runs), f1)[0]) == ["time", "f1"], "nothing else is known"


def test_guesses_at_the_worse_ends_of_their_intervals_are_worse_everywhere() -> None:
    found = trade_off(
        ahead_of(run(16, 100, cpu_utilisation=0.5)), {"time": "duration_seconds", "efficiency": "cpu_utilisation"}, {}
    )
    usual, unlucky = (coordinates(found.guesses.values(), found, unlucky=one) for one in (False, True))
    assert len(usual) > 0
    assert (unlucky >= usual).all()


def test_efficiency_is_that_of_the_gpus_where_a_run_measured_them() -> None:
    surrogate = ahead_of(run(16, 100, cpu_utilisation=0.5, gpu_utilisation=0.7))
    assert axes_of(["time", "efficiency"], surrogate)[0]["efficiency"] == "gpu_utilisation"


@pytest.mark.parametrize(("measured", "instead"), [({"cpu_utilisation": 0.5}, "efficiency"), ({"val_loss": 0.1}, "loss")])
def test_without_a_cost_it_is_a_front_of_what_else_is_known(measured: dict[str, float], instead: str) -> None:
    axes, note = axes_of(None, ahead_of(run(16, 100, **measured)))
    assert list(axes) == ["time", instead]
    assert note is not None
    assert "needs [prices]" in note


def test_a_front_of_unknown_cost_is_refused_where_it_was_asked_for() -> None:
    with pytest.raises(UsageError, match=r"not known; name prices in \[prices\]") as refused:
        axes_of(["time", "cost"], ahead_of(run(16, 100)))
    assert refused.value.code == "JPO-E833"
    assert list(axes_of(["time", "cost"], ahead_of())[0]) == ["time", "cost"], "before the first run nothing is known anyway"
