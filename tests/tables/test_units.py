"""The table of units."""

from __future__ import annotations

import math

import pytest

from jpo.tables.units import UNITS, time_unit_in_words


@pytest.mark.parametrize(
    ("name", "size", "parts"),
    [
        ("ms", 0.001, 1000),
        ("ns", 1e-9, 10**9),
        ("MiB", 2**20, 2**-20),
        ("GB", 1e9, 1e-9),
        ("percent", 0.01, 100),
        ("kWh", 3.6e6, 1 / 3.6e6),
    ],
)
def test_one_of_a_unit_and_how_many_make_one_of_jpos(name: str, size: float, parts: float) -> None:
    assert (UNITS[name].size, UNITS[name].parts) == (size, parts)


def test_of_one_measure_no_spelling_is_of_two_units() -> None:
    for measure in {unit.measure for unit in UNITS.values()}:
        words = [word for unit in UNITS.values() if unit.measure == measure for word in unit.spelt]
        assert sorted(words) == sorted({word.lower() for word in words})


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (1.8e9, None),
        (1.8e12, "milliseconds"),
        (-1.8e12, "milliseconds"),
        (1.8e15, "microseconds"),
        (1.8e18, "nanoseconds"),
        (math.inf, None),
        (math.nan, None),
    ],
)
def test_the_size_of_a_time_gives_its_unit_away(value: float, unit: str | None) -> None:
    assert time_unit_in_words(value) == unit
