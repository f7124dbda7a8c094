"""Amounts with their unit, as [sla] may have them: "1h 30m", "12 EUR", "64 GiB", "50%". A plain number is in the key's own."""

from __future__ import annotations

import re
from collections.abc import Mapping

from constraints.names import parse_value
from constraints.numbers import number_of
from constraints.quoted import quoted

SECONDS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hr": 3600,
    "hour": 3600,
    "d": 86400,
    "day": 86400,
}
"""Seconds of each unit, and of the plural of a word."""
JOULES = {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3.6e3, "kWh": 3.6e6, "MWh": 3.6e9}
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_PART = re.compile(rf"\s*{_NUMBER}\s*([a-zA-Z]*)\s*")
_ENERGY = re.compile(rf"{_NUMBER}\s?([a-zA-Z]+)")
_MONEY = re.compile(rf"\s*(?:{_NUMBER}\s*([A-Za-z]{{3}}|[$€£])|([A-Za-z]{{3}}|[$€£])\s*{_NUMBER})\s*")


def duration(value: object) -> float | None:
    """Seconds of '6h', '90 min', '1h 30m', '2d' or a number of seconds; None for anything else."""
    text, total, at, least = str(value), 0.0, 0, float("inf")
    if plain := re.fullmatch(rf"\s*{_NUMBER}\s*", text):
        return float(plain[1])
    while part := _PART.match(text, at):
        word = part[2]
        unit = SECONDS.get(word) or SECONDS.get(word.lower().removesuffix("s") if len(word) > 1 else "")
        if unit is None or unit >= least:  # the larger unit comes first
            return None
        total, at, least = total + float(part[1]) * unit, part.end(), unit
    return total if at and at == len(text) else None


def seconds(value: object, place: str) -> float | None:
    """Seconds of a duration above 0; None stays None."""
    found = None if value is None or isinstance(value, bool) else duration(value)
    if not found and value is not None:
        raise ValueError(f'{place}: {quoted(value)} is not a duration; write e.g. "90m", "1.5h" or "1h 30m"')
    return found


def usd(value: object, prices: Mapping[str, object], place: str) -> float | None:
    """USD of a number, or of '12 EUR' where [prices] says what an EUR is; None stays None."""
    match = _MONEY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        if isinstance(value, str) and not re.fullmatch(r"[\s0-9.eE+-]*", value):
            raise ValueError(f'{place}: {quoted(value)} is not an amount; write e.g. 12, "12 USD" or "12 EUR"')
        return number_of(value, place, above=0)
    code = match[2] or match[3]
    code = SIGNS.get(code, code.upper())
    rates = {"USD": 1.0, str(prices.get("currency")): number_of(prices.get("per_usd"), "[prices] per_usd", above=0) or 1.0}
    if code not in rates:
        raise ValueError(f"{place}: {quoted(value)}: [prices] does not say what {code} is worth; write it in USD")
    return (number_of(match[1] or match[4], place, above=0) or 0.0) / rates[code]


def gib(value: object, place: str) -> float | None:
    """GiB of a number, or of '64 GiB', '64GB'; None stays None."""
    if isinstance(value, str) and re.search("[a-zA-Z]", value):
        try:
            value = parse_value("memory_gib", place, value.strip())
        except ValueError:
            raise ValueError(f'{place}: {quoted(value)} is not a memory size; write e.g. "64 GiB"') from None
    return number_of(value, place, above=0)


def joules(value: object, prices: Mapping[str, object], place: str) -> float | None:
    """Joules of '12 kWh', or of '2 kg' of CO2 where [prices] says what a kWh emits, but of no bare number; None stays None."""
    if value is None:
        return None
    part = _ENERGY.fullmatch(value.strip()) if isinstance(value, str) else None
    number, unit = part.groups() if part else ("", "")
    emitted = number_of(prices.get("kg_co2_per_kwh"), "[prices] kg_co2_per_kwh", above=0)
    units = JOULES if emitted is None else {**JOULES, "kg": JOULES["kWh"] / emitted}
    if unit == "kg" and emitted is None:
        raise ValueError(f"{place}: {quoted(value)}: [prices] kg_co2_per_kwh does not say what a kWh emits; write it in kWh")
    if unit not in units:
        raise ValueError(f'{place}: {quoted(value)} is not an energy; write e.g. "12 kWh", or "5 kg" of CO2')
    return (number_of(number, place, above=0) or 0.0) * units[unit]


def share(value: object, place: str) -> float | None:
    """A share in 0..1 of a number, or of '50%'; None stays None."""
    if isinstance(value, str) and value.strip().endswith("%"):
        hundredths = number_of(value.strip()[:-1], place, low=0, high=100)
        return None if hundredths is None else hundredths / 100
    return number_of(value, place, low=0, high=1)
