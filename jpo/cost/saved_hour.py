"""Worth of time: what an hour that a configuration saves costs in money, and whether that is acceptable to the user."""

from __future__ import annotations

from dataclasses import dataclass

from jpo.records import USD, Currency, Forecast
from jpo.wording import numbers

NEGLIGIBLE = 0.005
"""Of duration and cost: less of a difference is none."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Trade-off of time against money, against today's values.

    Attributes:
        usd_per_hour: money for each hour: paid for an hour saved, or saved by an hour that it takes longer.
        saves_time: which of the two.
        acceptable: by what an hour is worth to the user.
    """

    usd_per_hour: float
    saves_time: bool
    acceptable: bool

    def verdict(self, currency: Currency = USD) -> str:
        """The verdict in a few words, for a table."""
        price = numbers.money(self.usd_per_hour, currency)
        word = "acceptable" if self.acceptable else "not acceptable"
        return f"{word} (an hour saved costs {price})" if self.saves_time else f"{word} (an hour longer saves {price})"

    def words(self, usd_per_saved_hour: float, currency: Currency = USD) -> str:
        """The trade-off and its verdict in a sentence."""
        price, worth = (numbers.money(amount, currency) for amount in (self.usd_per_hour, usd_per_saved_hour))
        what = f"each hour it saves costs {price}" if self.saves_time else f"each hour it takes longer saves {price}"
        return f"{what}: {'acceptable' if self.acceptable else 'not acceptable'}, an hour is worth {worth} to you"


def trade_off(now: Forecast, then: Forecast, usd_per_saved_hour: float | None) -> TradeOff | None:
    """The trade-off between today's values and others.

    Returns:
        None where an hour's worth or a forecast is not known, or one of the two is better in both, or not different in one.
    """
    if usd_per_saved_hour is None or not (now.duration_seconds and then.duration_seconds and now.cost_usd and then.cost_usd):
        return None
    seconds, usd = now.duration_seconds.mean - then.duration_seconds.mean, then.cost_usd.mean - now.cost_usd.mean
    little = abs(seconds) < NEGLIGIBLE * now.duration_seconds.mean or abs(usd) < NEGLIGIBLE * now.cost_usd.mean
    if little or seconds * usd <= 0:
        return None
    price = usd / (seconds / 3600)
    return TradeOff(price, seconds > 0, price <= usd_per_saved_hour if seconds > 0 else price >= usd_per_saved_hour)
