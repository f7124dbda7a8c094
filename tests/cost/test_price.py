from __future__ import annotations

import math

import pytest

from jpo.cost import Prices, log_rate, usd_per_hour

ALL = Prices(2.0, 0.05, 0.01)


def test_price_adds_up_gpus_cpus_and_memory() -> None:
    assert usd_per_hour({"gpus": 2, "cpus": 8, "memory_gib": 10, "batch_size": 64}, ALL) == pytest.approx(4.0 + 0.4 + 0.1)


def test_a_price_that_is_not_named_counts_as_included() -> None:
    assert usd_per_hour({"gpus": 2, "cpus": 8}, Prices(usd_per_gpu_hour=3.0)) == pytest.approx(6.0)


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


def difference(prices: Prices, more: dict[str, float], less: dict[str, float]) -> float:
    return math.exp(log_rate(more, prices) - log_rate(less, prices))


def test_rate_by_named_prices() -> None:
    assert difference(ALL, {"gpus": 2, "cpus": 8}, {"gpus": 1, "cpus": 8}) == pytest.approx(4.4 / 2.4)


def test_rate_without_prices_by_relative_weights() -> None:
    assert difference(Prices(), {"gpus": 4, "cpus": 10}, {"gpus": 1, "cpus": 10}) == pytest.approx(8.8 / 2.5)
    assert difference(Prices(), {"cpus": 64}, {"cpus": 2}) == pytest.approx(32)


def test_a_price_for_cpus_alone_ranks_by_it_unless_gpus_are_in_use() -> None:
    only_cpus = Prices(usd_per_cpu_hour=5.0)
    assert difference(
        only_cpus, {"gpus": 0, "cpus": 3, "memory_gib": 99}, {"gpus": 0, "cpus": 1, "memory_gib": 1}
    ) == pytest.approx(3)
    assert difference(only_cpus, {"gpus": 2, "cpus": 0}, {"gpus": 1, "cpus": 0}) == pytest.approx(2)


def test_rate_is_finite_without_gpus_and_zero_without_resources() -> None:
    assert difference(ALL, {"gpus": 1}, {"gpus": 0}) == pytest.approx(50)
    assert log_rate({"batch_size": 64}, ALL) == 0.0
    assert log_rate({"gpus": 8}, Prices(usd_per_gpu_hour=0.0)) == 0.0
