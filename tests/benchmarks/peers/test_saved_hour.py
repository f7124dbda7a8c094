from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from jpo.cost import Prices, compare
from jpo.records import Interval

worth_it = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "peers" / "saved_hour.py"))["worth_it"]

ONE, FOUR = {"gpus": 1.0, "cpus": 4.0, "batch_size": 64.0}, {"gpus": 4.0, "cpus": 4.0, "batch_size": 256.0}
PRICES = Prices(usd_per_gpu_hour=2.0, usd_per_cpu_hour=0.5)
TWO_HOURS, ONE_HOUR = Interval(7200, 6840, 7560), Interval(3600, 3240, 3960)


def test_a_saved_hour_is_worth_its_price_to_those_who_value_it_more() -> None:
    comparison = compare(ONE, FOUR, PRICES, before_duration=TWO_HOURS, after_duration=ONE_HOUR)  # 2 USD more
    assert worth_it(comparison, 3.0) is True
    assert worth_it(comparison, 1.0) is False


def test_slower_and_cheaper_pays_where_hours_are_cheap() -> None:
    comparison = compare(FOUR, ONE, PRICES, before_duration=ONE_HOUR, after_duration=TWO_HOURS)
    assert worth_it(comparison, 1.0) is True
    assert worth_it(comparison, 3.0) is False


def test_faster_and_cheaper_pays_for_everyone() -> None:
    assert worth_it(compare(FOUR, FOUR, PRICES, before_duration=TWO_HOURS, after_duration=ONE_HOUR), 0.0) is True


@pytest.mark.parametrize(("prices", "after"), [(Prices(), ONE_HOUR), (PRICES, None), (Prices(usd_per_cpu_hour=0.5), ONE_HOUR)])
def test_what_is_unknown_stays_unknown(prices: Prices, after: Interval | None) -> None:
    comparison = compare(ONE, FOUR, prices, before_duration=TWO_HOURS, after_duration=after)
    assert worth_it(comparison, 100.0) is None
