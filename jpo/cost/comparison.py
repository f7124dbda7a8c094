"""Comparison of two configurations: costs, changed resources, and the price of an hour that the more expensive one saves.

Durations come from runs or forecasts, prices from the user. What is unknown stays None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jpo.cost.price import Prices, usd_per_hour
from jpo.records import RESOURCES, Interval


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
    """The comparison of two configurations.

    Args:
        before, after: values by parameter name.
        before_duration, after_duration: seconds of one run each.
    """
    named = [name for name in RESOURCES if name in before and name in after]
    return CostComparison(
        cost_usd_before=_cost(usd_per_hour(before, prices), before_duration),
        cost_usd_after=_cost(usd_per_hour(after, prices), after_duration),
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
