"""Promises held against forecasts and runs, by hand."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest
from made import a_run

from jpo.cost import Prices
from jpo.cost.sla import MOST_MISSED, check_run, check_sla, compliance, measured, missed
from jpo.project.settings import SlaTable
from jpo.records import Forecast, Interval, Outcome, RunStatus, SlaCheck
from jpo.wording import names

ALL = {
    "time_max": 100.0,
    "cost_max": 2.0,
    "throughput_min": 500.0,
    "memory_max_gib": 8.0,
    "gpu_util_min": 0.5,
    "cpu_util_min": 0.3,
    "val_loss_max": 0.4,
    "accuracy_min": 0.9,
    "energy_max": 3.6e6,
}
FREE = Prices()


def verdicts(targets: dict[str, float], status: RunStatus = RunStatus.SUCCEEDED, **outcome: float) -> list[str]:
    run = a_run(status=status, outcome=Outcome(**outcome))  # type: ignore[arg-type]
    return [check.verdict for check in check_run(targets, run, FREE)]


def test_the_table_names_every_target_of_jpo_toml_and_quantities_that_are_forecast_and_measured() -> None:
    assert list(SlaTable.model_fields) == list(ALL) == list(names.TARGETS)
    for record in (Forecast, Outcome):
        assert {target.quantity for target in names.TARGETS.values()} <= {f.name for f in fields(record)}


@pytest.mark.parametrize(("name", "limit"), ALL.items())
def test_a_forecast_keeps_risks_or_breaks_a_target_on_its_own_side(name: str, limit: float) -> None:
    target = names.TARGETS[name]
    worse = 1.1 if target.at_most else 1 / 1.1

    def verdict(mean: float, worst: float) -> str:
        interval = Interval(mean, min(mean, worst), max(mean, worst))
        (check,) = check_sla({name: limit}, Forecast(**{target.quantity: interval}))
        return check.verdict

    assert verdict(limit / worse, limit) == "ok"
    assert verdict(limit, limit * worse) == "at risk"
    assert verdict(limit * worse, limit * worse**2) == "broken"
    assert check_sla({name: limit}, Forecast()) == (SlaCheck(name, limit, "unknown"),)


def test_a_run_keeps_or_breaks_what_was_measured_of_it() -> None:
    targets = {name: ALL[name] for name in ("time_max", "throughput_min", "gpu_util_min")}
    assert verdicts(targets, duration_seconds=100.0, throughput_samples_per_second=499.0) == ["ok", "broken", "unknown"]


def test_a_run_that_did_not_get_to_its_end_has_broken_only_what_grows() -> None:
    targets = {name: ALL[name] for name in ("time_max", "memory_max_gib", "throughput_min", "val_loss_max")}
    over = {"duration_seconds": 101.0, "memory_gib": 9.0, "throughput_samples_per_second": 1.0, "val_loss": 9.0}
    assert verdicts(targets, RunStatus.FAILED, **over) == ["broken", "broken", "unknown", "unknown"]
    assert verdicts(targets, RunStatus.STOPPED, duration_seconds=1.0, val_loss=0.1) == ["unknown"] * 4


def test_a_cost_is_what_was_measured_or_what_time_and_prices_make_and_never_zero_without_them() -> None:
    run = a_run(parameters={"cpus": 2.0}, outcome=Outcome(duration_seconds=1800.0))
    assert measured("cost_max", run, FREE) is None
    assert measured("cost_max", run, Prices(usd_per_cpu_hour=3.0)) == pytest.approx(3.0)
    assert measured("cost_max", a_run(outcome=Outcome(cost_usd=7.0)), FREE) == 7


def test_what_is_missed_is_a_log_ratio_bounded_and_summed_over_broken_targets() -> None:
    run = a_run(outcome=Outcome(duration_seconds=200.0, gpu_utilisation=0.4, val_loss=0.3))
    assert missed({"time_max": 100.0}, run, FREE) == pytest.approx(math.log(2))
    assert missed({"gpu_util_min": 0.5}, run, FREE) == pytest.approx(math.log(0.5 / 0.4))
    assert missed(ALL, run, FREE) == pytest.approx(math.log(2) + math.log(0.5 / 0.4))
    assert missed({"time_max": 1.0}, run, FREE) == MOST_MISSED
    assert missed({"time_max": 200.0}, run, FREE) == missed({}, run, FREE) == 0


def test_where_no_ratio_exists_the_difference_relative_to_the_limit_is_missed() -> None:
    run = a_run(outcome=Outcome(val_loss=-0.9, gpu_utilisation=0.0))
    assert missed({"val_loss_max": -1.0}, run, FREE) == pytest.approx(0.1)
    assert missed({"gpu_util_min": 0.5}, run, FREE) == MOST_MISSED
    assert missed({"val_loss_max": 0.0}, a_run(outcome=Outcome(val_loss=0.1)), FREE) == MOST_MISSED


def test_compliance_counts_what_is_known_of_runs_pairs_and_targets() -> None:
    def checks(time: str, cost: str) -> list[SlaCheck]:
        return [SlaCheck("time_max", 1.0, time), SlaCheck("cost_max", 1.0, cost)]  # type: ignore[arg-type]

    account = compliance([checks("ok", "broken"), checks("ok", "unknown"), checks("unknown", "unknown"), checks("ok", "ok")])
    assert (account.runs.kept, account.runs.known) == (2, 3), "of one run nothing is known"
    assert (account.pairs.kept, account.pairs.known) == (4, 5)
    assert {name: (kept.kept, kept.known) for name, kept in account.targets.items()} == {"time_max": (3, 3), "cost_max": (1, 2)}


def test_a_share_has_wilsons_interval_and_is_unknown_of_nothing() -> None:
    share = compliance([[SlaCheck("time_max", 1.0, "ok")]] * 8 + [[SlaCheck("time_max", 1.0, "broken")]] * 2).runs.share
    assert share is not None
    assert (share.mean, share.low, share.high) == pytest.approx((0.8, 0.5408, 0.9315), abs=1e-4)
    everything = compliance([[SlaCheck("time_max", 1.0, "ok")]] * 3).runs.share
    assert everything is not None
    assert (everything.low > 0.4, everything.high) == (True, 1.0)
    assert compliance([]).runs.share is None
