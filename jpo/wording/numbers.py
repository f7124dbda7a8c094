"""Numbers as people read them. Nothing is rounded to a false precision, and what is not known is called unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from jpo.records import USD, Currency, Interval

UNKNOWN = "unknown"


def duration(seconds: float) -> str:
    """3 h 52, 12 min 05 or 0.84 s."""
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02}"
    return f"{minutes // 60} h {minutes % 60:02}"


def money(amount_usd: float, currency: Currency = USD) -> str:
    """7.10 USD, or what that is in another currency; never fewer than two significant digits: 0.034 USD."""
    amount = amount_usd * currency.per_usd
    digits = 2 if abs(amount) >= 0.1 or amount == 0 else 1 - math.floor(math.log10(abs(amount)))
    return f"{amount:.{digits}f} {currency.code}"


def plain(value: float) -> str:
    """At most four significant digits; whole numbers without a point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def percent(ratio: float) -> str:
    return f"{round(100 * ratio)} %"


FORMATS: Mapping[str, Callable[[float], str]] = {
    "duration_seconds": duration,
    "cost_usd": money,
    "val_loss": plain,
    "time_max": duration,
    "cost_max": money,
}
"""How to write a forecast or a promise; what is missing is written plain."""


def written(name: str, value: float, currency: Currency = USD) -> str:
    """A quantity or a promise with its unit, amounts in a currency."""
    form = FORMATS.get(name, plain)
    return money(value, currency) if form is money else form(value)


def expected(name: str, interval: Interval | None, *, bounds: bool, currency: Currency = USD) -> str:
    """A forecast, with its 90 % interval if wanted."""
    if interval is None:
        return UNKNOWN
    mean, low, high = (written(name, value, currency) for value in (interval.mean, interval.low, interval.high))
    return f"{mean} ({low} to {high})" if bounds else mean


def confidence(probability: float | None) -> str:
    """A probability in a word and as a number."""
    if probability is None:
        return "not stated"
    word = "high" if probability >= 0.9 else "medium" if probability >= 0.7 else "low"
    return f"{word} ({'> 99 %' if probability > 0.99 else percent(probability)})"
