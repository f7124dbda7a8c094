from __future__ import annotations

import pytest

from jpo.records import Currency, Interval
from jpo.wording import numbers

EUR = Currency("EUR", 0.5)


@pytest.mark.parametrize(("usd", "text"), [(7.1, "3.55 EUR"), (0.0, "0.00 EUR"), (-3.0, "-1.50 EUR"), (-0.0002, "-0.00010 EUR")])
def test_amounts_are_converted_and_named(usd: float, text: str) -> None:
    assert numbers.money(usd, EUR) == text


def test_a_forecast_is_in_the_currency_and_in_usd_unless_told() -> None:
    cost = Interval(8.0, 6.0, 10.0)
    assert numbers.expected("cost_usd", cost, bounds=True, currency=EUR) == "4.00 EUR (3.00 EUR to 5.00 EUR)"
    assert numbers.expected("cost_usd", cost, bounds=False) == "8.00 USD"
    assert numbers.expected("duration_seconds", cost, bounds=False, currency=EUR) == "8 s"
    assert numbers.written("cost_max", 3.0, EUR) == "1.50 EUR"
