"""The instance that a configuration would be rented on: the cheapest of the catalogue that holds it, at the prices in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from jpo.cost.price import Prices, cheapest


@dataclass(frozen=True, slots=True)
class Rented:
    """An instance, always rented as a whole.

    Attributes:
        type: as the cloud calls it, e.g. "g5.xlarge".
        usd_per_hour: on demand; usd_per_hour_spot: None where the catalogue has no spot price of it.
        spot: whether costs are computed with its spot price.
        priced_on: day of its price, ISO 8601; price_age_days: how long ago that was.
    """

    type: str
    region: str
    usd_per_hour: float
    usd_per_hour_spot: float | None
    spot: bool
    priced_on: str
    price_age_days: int


def rented(parameters: Mapping[str, float], prices: Prices, *, now: float) -> Rented | None:
    """The instance for a configuration; None without a catalogue, where none holds it, or where its price is unknown.

    Args:
        now: unix seconds.
    """
    found = cheapest(parameters, prices)
    if found is None:
        return None
    age = datetime.fromtimestamp(now, UTC).date() - found.date
    prices_of = (found.usd_per_hour, found.usd_per_hour_spot)
    return Rented(found.instance, found.region, *prices_of, prices.spot, found.date.isoformat(), max(0, age.days))
