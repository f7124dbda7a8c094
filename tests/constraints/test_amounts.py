"""Amounts with their unit: what people write, what contradicts itself, and what nobody knows."""

from __future__ import annotations

import re

import pytest

from constraints import limits_from
from constraints.amounts import duration, gib, joules, seconds, share, usd

EUROS = {"currency": "EUR", "per_usd": 0.8}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("6h", 21600),
            ("1.5h", 5400),
            ("90 min", 5400),
            ("90 mins", 5400),
            ("1h 30m", 5400),
            ("1h30m", 5400),
            (" 3h 05m ", 11100),
        ),
        *(("2 Hours", 7200), ("1 day", 86400), ("2d 6h", 194400), ("12m 05s", 725), ("90", 90), (90, 90), (1.5, 1.5), ("0h", 0)),
    ],
)
def test_a_duration_is_written_as_people_write_it_and_as_reports_show_it(text: object, expected: float) -> None:
    assert duration(text) == expected


@pytest.mark.parametrize(
    "text", ["", "h", "30m 1h", "1h 1h", "1h 30", "90 M", "2 fortnights", "1 months", "-1h", "1,5h", "1e3", "nan", None]
)
def test_what_is_no_duration_is_none(text: object) -> None:
    """A bare number is seconds only where it stands alone; M would be a month or a minute."""
    assert duration(text) is None


@pytest.mark.parametrize("value", ["0h", "soon", True, 0])
def test_a_limit_of_no_time_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\[sla\] time_max: .* is not a duration; write e.g. "):
        seconds(value, "[sla] time_max")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12 EUR", 15.0),
        ("12EUR", 15.0),
        ("eur 12", 15.0),
        ("€12", 15.0),
        ("12 USD", 12.0),
        ("$ 12.50", 12.5),
        ("12", 12.0),
        (12, 12.0),
    ],
)
def test_money_is_in_usd_or_in_the_currency_of_the_prices(value: object, expected: float) -> None:
    assert usd(value, EUROS, "[sla] cost_max") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("12 GBP", r"\[sla\] cost_max: '12 GBP': \[prices\] does not say what GBP is worth; write it in USD"),
        ("12,50 EUR", "'12,50 EUR' is not an amount"),
        ("twelve", "'twelve' is not an amount"),
        ("12 euros", "'12 euros' is not an amount"),
        ("0 EUR", "'0' is too small"),
        ("-3", "'-3' is too small"),
    ],
)
def test_money_of_unknown_worth_is_refused(value: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        usd(value, EUROS, "[sla] cost_max")


def test_euros_without_a_rate_are_refused() -> None:
    with pytest.raises(ValueError, match="does not say what EUR is worth"):
        usd("12 EUR", {}, "[sla] cost_max")


def test_memory_and_shares_may_have_their_unit() -> None:
    assert [gib(value, "x") for value in ("64 GiB", "64Gi", "1 TiB", "64", 64, None)] == [64, 64, 1024, 64, 64, None]
    assert gib("64GB", "x") == pytest.approx(59.6046, rel=1e-5)
    assert [share(value, "x") for value in ("50%", "12.5 %", "0.5", 0.5, None)] == [0.5, 0.125, 0.5, 0.5, None]
    with pytest.raises(ValueError, match="'64 apples' is not a memory size"):
        gib("64 apples", "x")
    with pytest.raises(ValueError, match="'150' is too large"):
        share("150%", "x")


def test_the_guard_reads_the_same_texts_as_the_settings() -> None:
    sla = {"cost_max": "12 EUR", "time_max": "1h 30m", "memory_max_gib": "64 GiB", "gpu_util_min": "50%", "accuracy_min": "93%"}
    read = limits_from({"sla": sla, "prices": EUROS})
    assert read.sla["cost_max"] == pytest.approx(15.0)
    assert read.sla == {
        "cost_max": read.sla["cost_max"],
        "time_max": 5400.0,
        "memory_max_gib": 64.0,
        "gpu_util_min": 0.5,
        "accuracy_min": 0.93,
    }


@pytest.mark.parametrize(
    ("value", "expected"), [("2 kWh", 7.2e6), ("500Wh", 1.8e6), ("3 MJ", 3e6), ("2 kg", 1.8e7), (None, None)]
)
def test_energy_may_have_its_unit_or_be_what_making_it_emits(value: object, expected: float | None) -> None:
    assert joules(value, {"kg_co2_per_kwh": 0.4}, "[sla] energy_max") == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("value", "finding"),
    [
        ("2 kg", "'2 kg': [prices] kg_co2_per_kwh does not say what a kWh emits; write it in kWh"),
        ("2 h", '\'2 h\' is not an energy; write e.g. "12 kWh", or "5 kg" of CO2'),
        ("0 kWh", "above 0"),
        ("12", "'12' is not an energy; write e.g. \"12 kWh\""),
        (12, '12 is not an energy; write e.g. "12 kWh"'),
    ],
)
def test_what_is_no_energy_is_refused(value: object, finding: str) -> None:
    with pytest.raises(ValueError, match=re.escape(finding)):
        joules(value, {}, "[sla] energy_max")
