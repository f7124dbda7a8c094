from __future__ import annotations

import pytest

from jpo.cost import usd_of_text
from jpo.errors import UsageError
from jpo.records import USD, Currency

EUR = Currency("EUR", 0.8)


@pytest.mark.parametrize(
    ("text", "currency", "usd"),
    [("20", USD, 20.0), (" 2.5 USD ", USD, 2.5), ("20", EUR, 20.0), ("20EUR", EUR, 25.0), ("8 eur", EUR, 10.0), (".5", USD, 0.5)],
)
def test_an_amount_becomes_usd(text: str, currency: Currency, usd: float) -> None:
    assert usd_of_text(text, currency, option="--max-cost") == pytest.approx(usd)


@pytest.mark.parametrize("text", ["", "EUR", "0", "-3", "nan", "inf", "1e3", "20 dollars", "9" * 400, "²", "1,5"])
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--max-cost: .* is not an amount; write a number above 0") as refused:
        usd_of_text(text, EUR, option="--max-cost")
    assert refused.value.code == "JPO-E803"


def test_a_currency_without_a_rate_is_refused() -> None:
    with pytest.raises(UsageError, match=r"the rate of CHF is unknown; .*per_usd") as refused:
        usd_of_text("20CHF", EUR, option="--max-cost")
    assert refused.value.code == "JPO-E803"
