"""Units of cells: by the column, by the cell itself, by what the values suggest."""

from __future__ import annotations

import math

import pytest

from jpo.plugins.imports.units import unit_by_values, value_of


@pytest.mark.parametrize(
    ("kind", "unit", "text", "value"),
    [
        ("duration", "min", "2", 120.0),
        ("duration", "h", "0.5", 1800.0),
        ("duration", "s", "90 min", 5400.0),
        ("size", "MB", "1073.741824", 1.0),
        ("size", "GiB", "16Gi", 16.0),
        ("share", "percent", "55%", 0.55),
        ("share", "ratio", "55%", 0.55),
        ("money", "USD", "$1.5", 1.5),
        ("energy", "kWh", "1", 3.6e6),
        ("moment", "ms", "1700000000000", 1.7e9),
        ("moment", "ISO 8601", "2023-11-14T22:13:20Z", 1.7e9),
        ("moment", "ISO 8601", "2023-11-14 22:13:20", 1.7e9),
        ("number", None, "2e-5", 2e-5),
        ("truth", None, "True", 1.0),
        # clocks were refused before; of two numbers nobody knows what they are
        ("duration", "s", "1:02:03", 3723.0),
        ("duration", "h", "0 days 01:30:00.5", 5400.5),
        ("duration", "s", "1h 30m", 5400.0),
        ("duration", "ms", "2 days, 3 hours", 183600.0),
    ],
)
def test_a_cell_in_jpos_unit(kind, unit, text, value):
    assert value_of(kind, unit, text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("kind", "unit", "text"),
    [
        ("number", None, "auto"),
        ("number", None, "3_2"),
        ("number", None, "0,5"),
        ("number", None, "5 GiB"),
        ("duration", "s", "1:02"),
        ("duration", "s", "1:62:03"),
        ("duration", "s", "1h 30x"),
        ("moment", "ISO 8601", "yesterday"),
        ("truth", None, "maybe"),
        ("size", "GiB", "e" * 5000),
    ],
)
def test_what_is_no_value_is_said(kind, unit, text):
    with pytest.raises(ValueError, match=r"number|moment|neither"):
        value_of(kind, unit, text)


def test_a_loss_may_be_nan():
    assert math.isnan(value_of("number", None, "nan"))


@pytest.mark.parametrize(
    ("kind", "cells", "unit"),
    [
        ("moment", ["1700000000", "1700000600"], "s"),
        ("moment", ["1700000000000"], "ms"),
        ("moment", ["2026-01-01T00:00:00Z"], "ISO 8601"),
        ("share", ["0.5", "1.0"], "ratio"),
        ("share", ["0.5", "62"], "percent"),
        ("size", ["16"], "GiB"),
        ("size", ["17179869184"], "B"),
        ("duration", ["600"], "s"),
        ("number", ["5"], None),
    ],
)
def test_values_suggest_a_unit(kind, cells, unit):
    assert unit_by_values(kind, cells) == unit
