from __future__ import annotations

from dataclasses import replace
from datetime import date

from jpo.cost import Instance, Prices
from jpo.cost.rented import Rented, rented

NOW = 1_795_300_000.0  # 2026-11-21
SMALL = Instance("g5.xlarge", "g5", "a10g", 1, 24, 4, 16, "us-east-1", 1.006, 0.45, date(2026, 8, 26), "test")
LARGE = replace(SMALL, instance="g5.12xlarge", gpus=4, vcpus=48, memory_gib=192, usd_per_hour=5.672, usd_per_hour_spot=None)
PRICES = Prices(instances=(LARGE, SMALL))


def test_it_is_the_cheapest_that_holds_the_configuration_with_the_age_of_its_price() -> None:
    assert rented({"gpus": 1.0}, PRICES, now=NOW) == Rented("g5.xlarge", "us-east-1", 1.006, 0.45, False, "2026-08-26", 87)
    large = rented({"gpus": 2.0}, PRICES, now=NOW)
    assert large is not None
    assert (large.type, large.usd_per_hour_spot) == ("g5.12xlarge", None)


def test_nothing_is_rented_without_a_catalogue_or_where_none_holds_it() -> None:
    assert rented({"gpus": 1.0}, Prices(usd_per_gpu_hour=2.0), now=NOW) is None
    assert rented({"gpus": 8.0}, PRICES, now=NOW) is None


def test_a_spot_price_that_is_unknown_leaves_it_out_as_the_cost_does() -> None:
    spot = replace(PRICES, spot=True)
    assert rented({"gpus": 2.0}, spot, now=NOW) is None
    small = rented({"gpus": 1.0}, spot, now=NOW)
    assert small is not None
    assert small.spot


def test_a_price_of_tomorrow_is_of_today() -> None:
    found = rented({"gpus": 1.0}, PRICES, now=0.0)
    assert found is not None
    assert found.price_age_days == 0
