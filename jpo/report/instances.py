"""Instances on which runs run, with their prices, as sentences."""

from __future__ import annotations

from jpo.cost.rented import Rented
from jpo.records import Currency
from jpo.wording import numbers


def in_words(instance: Rented, currency: Currency) -> str:
    """An instance with its prices and their age: "g5.xlarge in us-east-1 (1.006 USD/h on demand, spot unknown; ...)"."""
    spot = instance.usd_per_hour_spot
    of_spot = "spot price unknown" if spot is None else f"{numbers.money_per_hour(spot, currency)} spot"
    age = f"prices of {instance.priced_on}, {numbers.counted(instance.price_age_days, 'day')} old"
    return f"{instance.type} in {instance.region} ({numbers.money_per_hour(instance.usd_per_hour, currency)}, {of_spot}; {age})"


def now_and_next(now: Rented | None, then: Rented | None, currency: Currency) -> str:
    """The instances of today's and of the suggested values, in a sentence; empty where neither is known."""
    if now == then:
        return f"Runs on {in_words(now, currency)}, now and next." if now else ""
    today, expected = (in_words(one, currency) if one else "no known instance" for one in (now, then))
    return f"Now on {today}; next on {expected}."
