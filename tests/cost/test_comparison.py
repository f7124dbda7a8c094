from __future__ import annotations

import pytest

from jpo.cost import Prices, compare
from jpo.cost.comparison import trade_off
from jpo.records import Forecast, Interval

ONE, FOUR = {"gpus": 1.0, "cpus": 4.0, "batch_size": 64.0}, {"gpus": 4.0, "cpus": 4.0, "batch_size": 256.0}
PRICES = Prices(usd_per_gpu_hour=2.0, usd_per_cpu_hour=0.5)
TWO_HOURS, ONE_HOUR = Interval(7200, 6840, 7560), Interval(3600, 3240, 3960)


def test_both_sides_have_their_cost_with_bounds() -> None:
    comparison = compare(ONE, FOUR, PRICES, before_duration=TWO_HOURS, after_duration=ONE_HOUR)
    assert comparison.cost_usd_before == Interval(8.0, 7.6, 8.4)
    assert comparison.cost_usd_after == Interval(10.0, 9.0, 11.0)


def test_changes_are_of_resources_alone() -> None:
    comparison = compare(ONE, FOUR, PRICES, before_duration=None, after_duration=None)
    assert dict(comparison.changes) == {"gpus": 3.0}


def test_the_price_of_a_saved_hour() -> None:
    comparison = compare(ONE, FOUR, PRICES, before_duration=TWO_HOURS, after_duration=ONE_HOUR)
    assert comparison.usd_more == pytest.approx(2.0)
    assert comparison.usd_per_saved_hour == pytest.approx(2.0)
    assert comparison.seconds_saved == Interval(3600, 2880, 4320)


def test_slower_and_cheaper_saves_no_hour() -> None:
    comparison = compare(FOUR, ONE, PRICES, before_duration=ONE_HOUR, after_duration=TWO_HOURS)
    assert comparison.usd_per_saved_hour is None


def test_faster_and_cheaper_costs_nothing_per_saved_hour() -> None:
    comparison = compare(FOUR, FOUR, PRICES, before_duration=TWO_HOURS, after_duration=ONE_HOUR)
    assert comparison.usd_per_saved_hour == pytest.approx(-10.0)


@pytest.mark.parametrize(("prices", "after"), [(Prices(), ONE_HOUR), (PRICES, None), (Prices(usd_per_cpu_hour=0.5), ONE_HOUR)])
def test_what_is_not_known_stays_unknown(prices: Prices, after: Interval | None) -> None:
    comparison = compare(ONE, FOUR, prices, before_duration=TWO_HOURS, after_duration=after)
    assert (comparison.usd_more, comparison.usd_per_saved_hour) == (None, None)
    assert comparison.cost_usd_after is None


def forecast(hours, usd):
    return Forecast(*(None if mean is None else Interval(mean, mean, mean) for mean in (hours and 3600 * hours, usd)))


TODAY = forecast(4.0, 10.0)


@pytest.mark.parametrize(
    ("hours", "usd", "price", "saves", "acceptable"),
    [(2.0, 16.0, 3.0, True, True), (2.0, 30.0, 10.0, True, False), (6.0, 2.0, 4.0, False, False), (5.0, 2.0, 8.0, False, True)],
    ids=["cheap hours", "dear hours", "saves too little", "saves enough"],
)
def test_an_hour_may_cost_what_it_is_worth(hours, usd, price, saves, acceptable):
    found = trade_off(TODAY, forecast(hours, usd), 5.0)
    assert (found.usd_per_hour, found.saves_time, found.acceptable) == (pytest.approx(price), saves, acceptable)


def test_there_is_no_trade_off_where_it_is_better_in_both_the_same_in_one_or_unknown():
    for hours, usd in ((2.0, 5.0), (8.0, 20.0), (2.0, 10.001), (4.001, 2.0), (2.0, None)):
        assert trade_off(TODAY, forecast(hours, usd), 5.0) is None
    assert trade_off(TODAY, forecast(2.0, 16.0), None) is None


def test_it_is_said_in_a_sentence():
    words = trade_off(TODAY, forecast(2.0, 16.0), 5.0).words(5.0)
    assert words == "each hour it saves costs 3.00 USD: acceptable, an hour is worth 5.00 USD to you"
