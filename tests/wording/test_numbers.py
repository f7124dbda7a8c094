from __future__ import annotations

import pytest

from jpo.records import Currency, Interval
from jpo.wording import numbers

EUR = Currency("EUR", 0.5)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.84, "0.84s"),
        (0.0, "0s"),
        (59.9, "59.9s"),
        (59.95, "1m 00s"),
        (1e-6, "1e-6s"),
        (0.8412, "0.841s"),
        (65, "1m 05s"),
        (3599.9, "1h 00m"),
        (725.0, "12m 05s"),
        (3578.0, "59m 38s"),
        (3599.6, "1h 00m"),
        (13920.0, "3h 52m"),
        (360000.0, "100h 00m"),
        (-90.0, "-1m 30s"),
        (2.78e-17, "0s"),
    ],
)
def test_a_duration_has_the_two_largest_units(seconds: float, text: str) -> None:
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(("usd", "text"), [(7.1, "3.55 EUR"), (0.0, "0.00 EUR"), (-3.0, "-1.50 EUR"), (-0.0002, "-0.00010 EUR")])
def test_amounts_are_converted_and_named(usd: float, text: str) -> None:
    assert numbers.money(usd, EUR) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.78, "-22%"), (1.51, "+51%"), (1.0, "±0%"), (1.004, "±0%"), (0.996, "±0%"), (12.0, "+1100%"), (0.0, "-100%")],
)
def test_a_change_has_a_sign_and_no_blank(ratio: float, text: str) -> None:
    assert numbers.change(ratio) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gpu_utilisation", 0.9, "90%"),
        ("gpu_util_min", 0.856, "86%"),
        ("memory_gib", 12.3456, "12.3 GiB"),
        ("memory_gib", 999.6, "1000 GiB"),
        ("memory_gib", 1000.6, "1001 GiB"),
        ("energy_joules", 4.5e6, "1.25 kWh"),
        ("learning_rate", 0.0316228, "0.03162"),
        ("time_max", 7200.0, "2h 00m"),
        ("cost_max", 3.0, "1.50 EUR"),
        ("usd_per_hour", 32.7726, "16.39 EUR/h"),
        ("points", -0.12, "-12 points"),
        ("difference", 0.03159, "+0.0316"),
        ("moment", 0.0, "1970-01-01 00:00"),
        ("moment", 1e300, "1e+300"),
        ("samples", 60000.0, "60000"),
        ("regret", 0.5, "0.5"),
    ],
)
def test_a_value_is_written_as_its_quantity_is(name: str, value: float, text: str) -> None:
    assert numbers.written(name, value, EUR) == text


def test_a_forecast_says_a_shared_unit_once() -> None:
    cost = Interval(8.0, 6.0, 10.0)
    assert numbers.expected("cost_usd", cost, bounds=True, currency=EUR) == "4.00 EUR (3.00 to 5.00)"
    assert numbers.expected("cost_usd", cost, bounds=False) == "8.00 USD"
    assert numbers.expected("duration_seconds", Interval(725, 600, 3660), bounds=True) == "12m 05s (10m 00s to 1h 01m)"
    assert numbers.expected("duration_seconds", Interval(725, 605, 1205), bounds=True) == "12m 05s (10m 05s to 20m 05s)"
    assert numbers.expected("cpu_utilisation", Interval(0.9, 0.85, 0.93), bounds=True) == "90% (85% to 93%)"
    assert numbers.expected("cost_usd", None, bounds=True) == "unknown"


@pytest.mark.parametrize(
    ("probability", "text"), [(0.001, "less than 1%"), (0.5, "50%"), (0.99, "99%"), (0.999, "more than 99%")]
)
def test_the_chance_of_a_claim_is_never_0_nor_1(probability: float, text: str) -> None:
    assert numbers.likely(probability) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((64.0, "64"), (0.0316227, "0.03162"), (1e-4, "0.0001"), (10030.4, "10030"), (-0.0, "0"), (9999.5, "10000")),
        *((2e-5, "2e-5"), (1.25e-10, "1.25e-10"), (1e15, "1e15"), (-3e-7, "-3e-7"), (1e15 - 1, "999999999999999")),
    ],
)
def test_plain_numbers_have_four_digits_at_most(value: float, text: str) -> None:
    assert numbers.plain(value) == text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *(("2e-05", "2e-5"), ("0.00002", "2e-5"), ("2E-5", "2e-5"), ("0.10", "0.1"), ("64", "64"), ("1e-3", "0.001")),
        *(
            ("0.0141421", "0.0141421"),
            ("10000000", "10000000"),
            ("1000000", "1000000"),
            ("0", "0"),
            ("32G", "32G"),
            ("adamw_torch", "adamw_torch"),
            ("nan", "nan"),
        ),
    ],
)
def test_a_value_of_a_file_is_shown_in_the_form_of_all_numbers(written: str, shown: str) -> None:
    assert numbers.as_in_reports(written) == shown


@pytest.mark.parametrize(
    ("amount", "text"),
    [(1.05, "1.05 USD"), (0.25, "0.25 USD"), (0.014, "0.014 USD"), (0.0000684, "0.000068 USD"), (0.0, "0.00 USD")],
)
def test_amounts_of_money_have_cents(amount: float, text: str) -> None:
    assert numbers.money(amount) == text


def test_one_is_singular() -> None:
    assert [numbers.counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


def test_before_and_after_share_a_unit() -> None:
    assert numbers.from_to("cost_usd", 70.0, 65.0) == "70.00 → 65.00 USD"
    assert numbers.from_to("gpu_utilisation", 0.054, 0.78) == "5% → 78%"
    assert numbers.from_to("duration_seconds", 7200.0, 1800.0) == "2h 00m → 30m 00s"
    assert numbers.from_to("duration_seconds", 605.0, 1205.0) == "10m 05s → 20m 05s"
    assert numbers.from_to("energy_joules", 3.6e6, 7.2e6) == "1 → 2 kWh"
    assert numbers.from_to("val_loss", None, 0.08231) == "unknown → 0.08231"


@pytest.mark.parametrize(("ratio", "text"), [(0.21, "21%"), (0.004, "less than 1%"), (0.005, "0%"), (0.0, "0%")])
def test_a_share_that_is_little_is_not_called_nothing(ratio: float, text: str) -> None:
    assert numbers.percent_in_words(ratio) == text


def test_a_chance_is_never_nothing() -> None:
    assert [numbers.chance(probability) for probability in (0.0, 0.005, 0.02)] == ["less than 1%", "less than 1%", "2%"]


def test_once_is_a_word() -> None:
    assert (numbers.times(1), numbers.times(3)) == ("once", "3 times")
