"""Comparison of two configurations: costs, changed resources, the price of an hour that one saves, and whether it is worth it.

Durations come from runs or forecasts, prices from the user. What is unknown stays None.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jpo.cost.price import Prices, usd_per_hour
from jpo.records import RESOURCES, USD, Currency, Forecast, Interval
from jpo.wording import numbers


@dataclass(frozen=True, slots=True)
class CostComparison:
    """The differences in cost and time after a change; None where a price or a duration is unknown.

    Attributes:
        cost_usd_before, cost_usd_after: of one whole run each.
        changes: GPUs, CPUs and GiB of memory that are added (positive) or removed, where both name them and they differ.
        seconds_saved: below 0 when the run becomes slower. Its bounds pair the best case with the worst one, so they are wide.
    """

    cost_usd_before: Interval | None
    cost_usd_after: Interval | None
    changes: Mapping[str, float]
    seconds_saved: Interval | None

    @property
    def usd_more(self) -> float | None:
        """Additional cost of a run, by the means; below 0 when it costs less."""
        if self.cost_usd_before is None or self.cost_usd_after is None:
            return None
        return self.cost_usd_after.mean - self.cost_usd_before.mean

    @property
    def usd_per_saved_hour(self) -> float | None:
        """Price of a saved hour, at most 0 when the run costs no more; None when no time is saved or something is unknown."""
        if self.usd_more is None or self.seconds_saved is None or self.seconds_saved.mean <= 0:
            return None
        return self.usd_more / (self.seconds_saved.mean / 3600)


def compare(
    before: Mapping[str, float],
    after: Mapping[str, float],
    prices: Prices,
    *,
    before_duration: Interval | None,
    after_duration: Interval | None,
) -> CostComparison:
    """The comparison of two configurations, by parameter name; durations in seconds of one run each."""
    named = [name for name in RESOURCES if name in before and name in after]
    return CostComparison(
        cost_usd_before=usd_of(before_duration, usd_per_hour(before, prices)),
        cost_usd_after=usd_of(after_duration, usd_per_hour(after, prices)),
        changes={name: after[name] - before[name] for name in named if after[name] != before[name]},
        seconds_saved=_saved(before_duration, after_duration),
    )


def usd_of(seconds: Interval | None, usd_per_hour: float | None) -> Interval | None:
    """The cost of a duration."""
    if seconds is None or usd_per_hour is None:
        return None
    rate = usd_per_hour / 3600
    return Interval(seconds.mean * rate, seconds.low * rate, seconds.high * rate)


def _saved(before: Interval | None, after: Interval | None) -> Interval | None:
    if before is None or after is None:
        return None
    return Interval(before.mean - after.mean, before.low - after.high, before.high - after.low)


NEGLIGIBLE = 0.005
"""Of duration and cost: less of a difference is none."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Trade-off against today's values: USD paid for an hour saved, or saved by one longer; acceptable by what one is worth."""

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

    Returns None where an hour's worth or a forecast is not known, or one of the two is better in both, or not different in one.
    """
    if usd_per_saved_hour is None or not (now.duration_seconds and then.duration_seconds and now.cost_usd and then.cost_usd):
        return None
    seconds, usd = now.duration_seconds.mean - then.duration_seconds.mean, then.cost_usd.mean - now.cost_usd.mean
    little = abs(seconds) < NEGLIGIBLE * now.duration_seconds.mean or abs(usd) < NEGLIGIBLE * now.cost_usd.mean
    if little or seconds * usd <= 0:
        return None
    price = usd / (seconds / 3600)
    return TradeOff(price, seconds > 0, price <= usd_per_saved_hour if seconds > 0 else price >= usd_per_saved_hour)
