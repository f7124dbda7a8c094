"""Two configurations side by side: what each costs, what changes, and what an hour costs that the dearer one saves.

It compares what it is given: durations come from runs or forecasts, prices from the user. What is not known stays None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jpo.cost.price import RESOURCES, Prices, usd_per_hour
from jpo.records import Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """What would be different after a change; None where prices or durations do not say.

    Attributes:
        usd_per_hour_before, usd_per_hour_after: price of an hour of each, without energy.
        cost_usd_before, cost_usd_after: of one whole run each.
        changes: GPUs, CPUs and GiB of memory that come (positive) or go, where both name them and they differ.
        seconds_saved: below 0 when it becomes slower. Its bounds pair the best case with the worst one, so they are wide.
    """

    usd_per_hour_before: float | None
    usd_per_hour_after: float | None
    cost_usd_before: Interval | None
    cost_usd_after: Interval | None
    changes: Mapping[str, float]
    seconds_saved: Interval | None

    @property
    def usd_more(self) -> float | None:
        """How much more a run costs afterwards, by the means; below 0 when it costs less."""
        if self.cost_usd_before is None or self.cost_usd_after is None:
            return None
        return self.cost_usd_after.mean - self.cost_usd_before.mean

    @property
    def usd_per_saved_hour(self) -> float | None:
        """Price of one hour less, at most 0 when it costs no more; None when no time is saved or something is unknown."""
        if self.usd_more is None or self.seconds_saved is None or self.seconds_saved.mean <= 0:
            return None
        return self.usd_more / (self.seconds_saved.mean / 3600)

    def worth_it(self, hour_usd: float) -> bool | None:
        """Whether it pays for somebody to whom an hour is worth so much; None: unknown. Slower may pay too, if cheaper."""
        if self.usd_more is None or self.seconds_saved is None:
            return None
        return self.usd_more <= hour_usd * self.seconds_saved.mean / 3600


def compare(
    before: Mapping[str, float],
    after: Mapping[str, float],
    prices: Prices,
    *,
    before_duration: Interval | None,
    after_duration: Interval | None,
) -> Comparison:
    """Hold one configuration against another.

    Args:
        before, after: values by parameter name.
        before_duration, after_duration: seconds of one run each.
    """
    rate_before, rate_after = usd_per_hour(before, prices), usd_per_hour(after, prices)
    named = [name for name in RESOURCES if name in before and name in after]
    return Comparison(
        usd_per_hour_before=rate_before,
        usd_per_hour_after=rate_after,
        cost_usd_before=_cost(rate_before, before_duration),
        cost_usd_after=_cost(rate_after, after_duration),
        changes={name: after[name] - before[name] for name in named if after[name] != before[name]},
        seconds_saved=_saved(before_duration, after_duration),
    )


def _cost(usd_per_hour: float | None, seconds: Interval | None) -> Interval | None:
    if usd_per_hour is None or seconds is None:
        return None
    rate = usd_per_hour / 3600
    return Interval(seconds.mean * rate, seconds.low * rate, seconds.high * rate)


def _saved(before: Interval | None, after: Interval | None) -> Interval | None:
    if before is None or after is None:
        return None
    return Interval(before.mean - after.mean, before.low - after.high, before.high - after.low)
