"""Amounts of money as people write them, converted to USD, in which everything is computed."""

import math
import re

from jpo.errors import UsageError
from jpo.records import USD, Currency

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:([A-Za-z]{3})\s*)?", re.ASCII)


def usd_of_text(text: str, currency: Currency, *, option: str) -> float:
    """The USD of an amount: '20' or '20USD' -> 20.0; '20EUR' is converted where EUR is the currency of [prices].

    Raises UsageError: JPO-E803, not an amount above 0, or a currency whose rate jpo.toml does not state.
    """
    match = _AMOUNT.fullmatch(text)
    amount = float(match[1]) if match else math.nan
    if not match or not (math.isfinite(amount) and amount > 0):
        currencies = USD.code if currency == USD else f"USD or {currency.code}"
        remedy = f"write a number above 0 in {currencies}, e.g. 20"
        raise UsageError(option, f"{text!r:.80} is not an amount", remedy, code="JPO-E803")
    code = (match[2] or USD.code).upper()
    rates = {USD.code: 1.0, currency.code: currency.per_usd}
    if code not in rates:
        remedy = f"write USD, or set [prices] currency = '{code}' and per_usd, the amount of it that one USD is worth"
        raise UsageError(option, f"the rate of {code} is unknown", remedy, code="JPO-E803")
    return amount / rates[code]
