"""Targets of [sla], by hand: a forecast that keeps each and one that does not."""

from __future__ import annotations

import math

import pytest

from constraints.limits import Limits, limits_from
from constraints.rules import RULES, Facts, keeps
from constraints.sla import SLA
from constraints.verdict import Violation
from jpo.project.tables.promises import SlaTable
from jpo.records import FORECAST
from jpo.wording.names import TARGETS

NOW = {"batch_size": 64.0, "gpus": 2.0}
ROWS = [  # target, limit, rule, a forecast that keeps it, one that breaks it
    ("cost_max", 12, "cost_within_budget", 12, 12.1),
    ("time_max", 3600, "time_within_sla", 3600, 3601),
    ("throughput_min", 500, "throughput_within_sla", 500, 499),
    ("memory_max_gib", 64, "memory_within_sla", 64, 65),
    ("gpu_util_min", 0.5, "gpu_utilisation_within_sla", 0.5, 0.49),
    ("cpu_util_min", 0.3, "cpu_utilisation_within_sla", 0.3, 0.0),
    ("val_loss_max", -1.5, "val_loss_within_sla", -2.0, -1.4),
    ("accuracy_min", 0.9, "accuracy_within_sla", 0.91, 0.89),
    ("energy_max", "2 kWh", "energy_within_sla", 7.2e6, 7.3e6),
]


def found(limits: Limits, facts: Facts) -> list[Violation]:
    return [violation for rule in RULES for violation in rule(NOW, NOW, limits, facts)]


def the_one(name: str, limit: float, value: float) -> Violation:
    (violation,) = keeps(name)(NOW, NOW, Limits(sla={name: limit}), Facts(next={SLA[name].quantity: value}))
    return violation


@pytest.mark.parametrize(("name", "limit", "rule", "kept", "broken"), ROWS)
def test_a_target_is_judged_by_the_forecast_and_only_if_there_is_one(
    name: str, limit: object, rule: str, kept: float, broken: float
) -> None:
    limits, quantity = limits_from({"sla": {name: limit}}), TARGETS[name].quantity
    assert not found(limits, Facts())
    assert not found(limits, Facts(next={quantity: kept}))
    assert not found(Limits(), Facts(next={quantity: broken}))
    (violation,) = found(limits, Facts(next={quantity: broken}))
    assert (violation.rule, set(violation.involves)) == (rule, set(NOW)), "it depends on all values"
    assert f"; [sla] {name} is " in violation.message


def test_guard_settings_and_reports_know_the_same_targets() -> None:
    """Known to one alone, it would be accepted in jpo.toml and never held."""
    assert {name for name, *_ in ROWS} == SLA.keys() == TARGETS.keys() == SlaTable.model_fields.keys()
    assert {target.quantity for target in SLA.values()} == set(FORECAST)


def test_a_broken_target_is_named_with_its_unit_and_its_name_in_jpo_toml() -> None:
    one = the_one("memory_max_gib", 64, 65.04)
    assert one.message == "the run is expected to need 65.04 GiB; [sla] memory_max_gib is 64 GiB"
    assert (one.parameter, one.wanted, one.allowed) == ("memory", "65.04 GiB", "<= 64 GiB")
    assert the_one("throughput_min", 500, 9).allowed == ">= 500 samples/s"


def test_hours_are_written_as_hours_and_two_numbers_so_that_they_are_seen_to_differ() -> None:
    assert the_one("time_max", 21_600, 27_000).message == "the run is expected to take 7.5 h; [sla] time_max is 6 h"
    assert the_one("time_max", 21_600, 21_600.5).message == "the run is expected to take 6.000138889 h; [sla] time_max is 6 h"


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_facts_that_are_no_measurements_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"cost_usd_next = .+ of at least 0; leave out what is not known"):
        Facts(next={"cost_usd": value})
    with pytest.raises(ValueError, match=r"usd_per_hour_next = .+; leave out what is not known"):
        Facts(usd_per_hour_next=value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_below_zero_is_a_measurement_and_infinity_is_none(value: float) -> None:
    assert Facts(next={"val_loss": -3.0}).next["val_loss"] == -3
    with pytest.raises(ValueError, match=r"val_loss_now = .+ is not a finite number; leave"):
        Facts(now={"val_loss": value})


def test_a_forecast_of_what_no_target_bounds_is_refused() -> None:
    """Mistyped, it would be a target that nothing breaks."""
    with pytest.raises(ValueError, match="val_los is not a quantity"):
        Facts(next={"val_los": 1.0})


@pytest.mark.parametrize(
    ("name", "limit", "now", "then", "approved"),
    [
        ("val_loss_max", 0.3, 0.4, 0.35, True),
        ("val_loss_max", 0.3, 0.4, 0.404, True),  # within noise
        ("val_loss_max", 0.3, 0.4, 0.45, False),
        ("val_loss_max", 0.3, 0.2, 0.35, False),
        ("val_loss_max", 0.3, None, 0.35, False),
        ("accuracy_min", 0.9, 0.8, 0.85, True),
        ("accuracy_min", 0.9, 0.8, 0.797, True),
        ("accuracy_min", 0.9, 0.8, 0.79, False),
        ("accuracy_min", 0.9, 0.95, 0.85, False),
        ("cost_max", 2.0, 4.0, 3.0, False),  # no quality of the model
    ],
)
def test_a_quality_that_today_breaks_too_refuses_no_more_than_what_is_worse(
    name: str, limit: float, now: float | None, then: float, approved: bool
) -> None:
    quantity = SLA[name].quantity
    facts = Facts(next={quantity: then}, now={} if now is None else {quantity: now})
    assert (not found(Limits(sla={name: limit}), facts)) is approved
