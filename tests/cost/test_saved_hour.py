"""What an hour is worth, by hand."""

import pytest

from jpo.cost.saved_hour import trade_off
from jpo.records import Forecast, Interval


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
