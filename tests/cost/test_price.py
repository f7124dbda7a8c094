from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import a_run

from jpo.cost import Instance, Prices, lacks_energy, log_rate, run_cost_usd, usd_per_hour
from jpo.cost.price import NO_PRICES, Rented, co2_kg, price_of_type, rented
from jpo.errors import UsageError
from jpo.records import Outcome, Run

ALL = Prices(2.0, 0.05, 0.01)


def test_price_adds_up_gpus_cpus_and_memory() -> None:
    assert usd_per_hour({"gpus": 2, "cpus": 8, "memory_gib": 10, "batch_size": 64}, ALL) == pytest.approx(4.0 + 0.4 + 0.1)


def test_a_price_that_is_not_named_counts_as_included() -> None:
    assert usd_per_hour({"gpus": 2, "cpus": 8}, Prices(usd_per_gpu_hour=3.0)) == pytest.approx(6.0)
    assert usd_per_hour({"gpus": 0, "cpus": 8}, Prices(usd_per_cpu_hour=0.05)) == pytest.approx(0.4)
    assert usd_per_hour({"cpus": 8}, Prices(usd_per_cpu_hour=0.05)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("parameters", "prices"),
    [
        ({"gpus": 2.0, "cpus": 8.0}, Prices()),
        ({"gpus": 2.0, "cpus": 8.0}, Prices(usd_per_cpu_hour=0.05)),
        ({"batch_size": 64.0}, ALL),
        ({"gpus": 0.0}, ALL),
    ],
)
def test_price_is_unknown_rather_than_wrong(parameters: dict[str, float], prices: Prices) -> None:
    assert usd_per_hour(parameters, prices) is None


def test_free_hardware_costs_nothing_and_is_known() -> None:
    assert usd_per_hour({"gpus": 4}, Prices(usd_per_gpu_hour=0.0)) == 0.0


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_prices_that_are_none_are_refused(price: float) -> None:
    with pytest.raises(ValueError, match="usd_per_cpu_hour"):
        Prices(usd_per_cpu_hour=price)


def test_a_share_of_the_on_demand_price_is_above_0_and_at_most_all_of_it() -> None:
    assert Prices(spot_share=1.0).spot_share == 1
    for share in (0.0, 1.01, -0.1, math.nan):
        with pytest.raises(ValueError, match="spot_share"):
            Prices(spot_share=share)


def difference(prices: Prices, more: dict[str, float], less: dict[str, float]) -> float:
    return math.exp(log_rate(more, prices) - log_rate(less, prices))


def test_rate_by_named_prices() -> None:
    assert difference(ALL, {"gpus": 2, "cpus": 8}, {"gpus": 1, "cpus": 8}) == pytest.approx(4.4 / 2.4)


def test_rate_without_prices_by_relative_weights() -> None:
    assert difference(Prices(), {"gpus": 4, "cpus": 10}, {"gpus": 1, "cpus": 10}) == pytest.approx(8.8 / 2.5)
    assert difference(Prices(), {"cpus": 64}, {"cpus": 2}) == pytest.approx(32)
    assert difference(Prices(), {"gpus": 1, "memory_gib": 420}, {"gpus": 1, "memory_gib": 0}) == pytest.approx(2)


def test_a_price_for_cpus_alone_ranks_by_it_unless_gpus_are_in_use() -> None:
    only_cpus = Prices(usd_per_cpu_hour=5.0)
    assert difference(
        only_cpus, {"gpus": 0, "cpus": 3, "memory_gib": 99}, {"gpus": 0, "cpus": 1, "memory_gib": 1}
    ) == pytest.approx(3)
    assert difference(only_cpus, {"gpus": 2, "cpus": 0}, {"gpus": 1, "cpus": 0}) == pytest.approx(2)
    assert difference(only_cpus, {"cpus": 3, "memory_gib": 99}, {"cpus": 1, "memory_gib": 1}) == pytest.approx(3)


def test_rate_is_finite_without_gpus_and_zero_without_resources() -> None:
    assert difference(ALL, {"gpus": 1}, {"gpus": 0}) == pytest.approx(50)
    assert log_rate({"batch_size": 64}, ALL) == 0.0
    assert log_rate({"gpus": 8}, Prices(usd_per_gpu_hour=0.0)) == 0.0


def an_instance(
    name: str, gpus: int, usd: float, spot: float | None = None, vcpus: float = 8.0, memory_gib: float = 32.0
) -> Instance:
    gpu = "t4" if gpus else ""
    return Instance(name, "x", gpu, gpus, 16.0, vcpus, memory_gib, "here", usd, spot, date(2026, 8, 26), "a list")


ONE, FOUR, BARE = an_instance("one", 1, 1.0, 0.25), an_instance("four", 4, 3.5, vcpus=32), an_instance("bare", 0, 0.4)
RENTED = Prices(instances=(FOUR, ONE, BARE))


@pytest.mark.parametrize(
    ("parameters", "usd"),
    [
        ({"gpus": 1.0, "cpus": 8.0, "memory_gib": 32.0}, 1.0),
        ({"gpus": 1.0, "cpus": 8.0, "memory_gib": 32.000001}, 1.0),  # as it comes back from bytes
        ({"gpus": 1.0, "cpus": 9.0}, 3.5),
        ({"gpus": 2.0}, 3.5),
        ({"gpus": 0.0, "cpus": 2.0}, 0.4),
        ({"gpus": 5.0}, None),
        ({"gpus": 1.0, "memory_gib": 64.0}, None),
        ({"batch_size": 64.0}, None),
    ],
)
def test_a_configuration_costs_what_the_cheapest_instance_does_that_holds_it(
    parameters: dict[str, float], usd: float | None
) -> None:
    assert usd_per_hour(parameters, RENTED) == usd


def test_spot_prices_are_the_instances_own_else_a_share_else_unknown() -> None:
    spot = replace(RENTED, spot=True)
    assert usd_per_hour({"gpus": 1}, spot) == 0.25
    assert usd_per_hour({"gpus": 2}, spot) is None
    assert usd_per_hour({"gpus": 2}, replace(spot, spot_share=0.2)) == pytest.approx(0.7)
    assert usd_per_hour({"gpus": 1}, replace(ALL, spot=True)) is None
    assert usd_per_hour({"gpus": 1}, replace(ALL, spot=True, spot_share=0.5)) == pytest.approx(1.0)


@pytest.mark.parametrize(("lost", "usd"), [(None, 0.25), (0.0, 0.25), (0.5, 0.5), (0.99, 2.5)])
def test_hours_that_spot_instances_lose_are_paid_too_up_to_ten_times_the_price(lost: float | None, usd: float) -> None:
    assert usd_per_hour({"gpus": 1}, replace(RENTED, spot=True, spot_lost_share=lost)) == pytest.approx(usd)
    assert usd_per_hour({"gpus": 1}, replace(RENTED, spot_lost_share=lost)) == 1.0  # on demand none is lost


PARAMETERS = st.fixed_dictionaries(
    {"gpus": st.integers(0, 64), "cpus": st.floats(0, 300), "memory_gib": st.floats(0, 5000)}, optional={"epochs": st.just(3)}
)
KNOWN = st.sampled_from([RENTED, replace(RENTED, spot=True), replace(RENTED, instances=(ONE, FOUR)), ALL, Prices()])


@given(PARAMETERS, PARAMETERS, KNOWN)
def test_the_rate_is_finite_and_agrees_with_the_price_where_there_is_one(
    some: dict[str, float], others: dict[str, float], prices: Prices
) -> None:
    rates = [log_rate(values, prices) for values in (some, others)]
    usd = [usd_per_hour(values, prices) for values in (some, others)]
    assert all(map(math.isfinite, rates))
    if usd[0] and usd[1]:
        assert rates[0] - rates[1] == pytest.approx(math.log(usd[0]) - math.log(usd[1]), abs=1e-9)


def test_what_fits_into_no_instance_ranks_as_several_of_one_kind() -> None:
    assert difference(RENTED, {"gpus": 8}, {"gpus": 4}) == pytest.approx(2)
    assert difference(replace(RENTED, instances=(ONE, BARE)), {"gpus": 3}, {"gpus": 1}) == pytest.approx(3)
    assert difference(replace(RENTED, instances=(BARE,)), {"gpus": 4}, {"gpus": 2}) == pytest.approx(2)
    assert difference(replace(RENTED, spot=True), {"gpus": 8}, {"gpus": 1}) == pytest.approx(8)  # of `one`, on spot


def test_what_needs_nothing_of_an_instance_has_a_share_of_the_cheapest() -> None:
    assert difference(RENTED, {"gpus": 0, "cpus": 2}, {"gpus": 0}) == pytest.approx(50)
    assert log_rate({"gpus": 1}, replace(RENTED, instances=(replace(ONE, usd_per_hour=0.0),))) == 0.0


def a_priced_run(joules: float | None, cost_usd: float | None = None) -> Run:
    outcome = Outcome(duration_seconds=7200.0, energy_joules=joules, cost_usd=cost_usd)
    return replace(a_run(), parameters={"gpus": 2.0}, outcome=outcome)


def test_measured_energy_comes_on_top_where_a_kwh_has_a_price() -> None:
    prices = Prices(usd_per_gpu_hour=1.0, usd_per_kwh=0.5)
    assert run_cost_usd(a_priced_run(3.6e6), prices) == pytest.approx(4.0 + 0.5)
    assert run_cost_usd(a_priced_run(None), prices) == pytest.approx(4.0)
    assert run_cost_usd(a_priced_run(3.6e6, cost_usd=9.0), prices) == 9.0
    assert [lacks_energy(run, prices) for run in (a_priced_run(3.6e6), a_priced_run(None), a_priced_run(None, 9.0))] == [
        False,
        True,
        False,
    ]
    assert not lacks_energy(a_priced_run(None), ALL)


def test_energy_emits_what_a_kwh_does_where_both_are_known() -> None:
    assert co2_kg(7.2e6, Prices(kg_co2_per_kwh=0.4)) == pytest.approx(0.8)
    assert co2_kg(None, Prices(kg_co2_per_kwh=0.4)) is None
    assert co2_kg(7.2e6, NO_PRICES) is None


def test_a_price_of_energy_alone_is_no_price_of_the_machine() -> None:
    assert run_cost_usd(a_priced_run(3.6e6), Prices(usd_per_kwh=0.5)) is None
    assert run_cost_usd(a_priced_run(3.6e6), Prices(usd_per_gpu_hour=0.0, usd_per_kwh=0.5)) == 0.5
    assert run_cost_usd(a_priced_run(None), Prices(usd_per_gpu_hour=0.0)) == 0.0


def test_power_that_was_measured_makes_the_hour_more_expensive() -> None:
    prices = Prices(usd_per_gpu_hour=1.0, usd_per_kwh=0.5)
    assert usd_per_hour({"gpus": 2}, prices, power_watts=500.0) == pytest.approx(2.25)
    assert usd_per_hour({"gpus": 2}, ALL, power_watts=500.0) == pytest.approx(4.0)


def test_a_gpu_type_has_its_price_and_an_unknown_one_names_the_known() -> None:
    assert price_of_type({"A10G": 1.0, "t4": 0.5}, " a10g", place="jpo.toml") == 1.0
    with pytest.raises(UsageError, match=r"jpo.toml: gpu_type 'v100' has no price .*; known are a10g, t4") as refused:
        price_of_type({"A10G": 1.0, "t4": 0.5}, "v100", place="jpo.toml")
    assert refused.value.code == "JPO-E801"


def test_a_time_beyond_all_measure_has_no_cost() -> None:
    run = replace(a_run(), parameters={"gpus": 1e6}, outcome=Outcome(duration_seconds=1e308))
    assert run_cost_usd(run, Prices(usd_per_gpu_hour=1.0)) is None


RENTED_NOW = 1_795_300_000.0  # 2026-11-21
RENTED_SMALL = Instance("g5.xlarge", "g5", "a10g", 1, 24, 4, 16, "us-east-1", 1.006, 0.45, date(2026, 8, 26), "test")
RENTED_LARGE = replace(
    RENTED_SMALL, instance="g5.12xlarge", gpus=4, vcpus=48, memory_gib=192, usd_per_hour=5.672, usd_per_hour_spot=None
)
RENTED_PRICES = Prices(instances=(RENTED_LARGE, RENTED_SMALL))


def test_it_is_the_cheapest_that_holds_the_configuration_with_the_age_of_its_price() -> None:
    assert rented({"gpus": 1.0}, RENTED_PRICES, now=RENTED_NOW) == Rented(
        "g5.xlarge", "us-east-1", 1.006, 0.45, False, "2026-08-26", 87
    )
    large = rented({"gpus": 2.0}, RENTED_PRICES, now=RENTED_NOW)
    assert large is not None
    assert (large.type, large.usd_per_hour_spot) == ("g5.12xlarge", None)


def test_nothing_is_rented_without_a_catalogue_or_where_none_holds_it() -> None:
    assert rented({"gpus": 1.0}, Prices(usd_per_gpu_hour=2.0), now=RENTED_NOW) is None
    assert rented({"gpus": 8.0}, RENTED_PRICES, now=RENTED_NOW) is None


def test_a_spot_price_that_is_unknown_leaves_it_out_as_the_cost_does() -> None:
    spot = replace(RENTED_PRICES, spot=True)
    assert rented({"gpus": 2.0}, spot, now=RENTED_NOW) is None
    small = rented({"gpus": 1.0}, spot, now=RENTED_NOW)
    assert small is not None
    assert small.spot


def test_a_price_of_tomorrow_is_of_today() -> None:
    found = rented({"gpus": 1.0}, RENTED_PRICES, now=0.0)
    assert found is not None
    assert found.price_age_days == 0
