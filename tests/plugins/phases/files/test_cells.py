from __future__ import annotations

import math

import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.cells import CellValue, in_base, is_nothing, measurement, number
from jpo.plugins.phases.traces import CPU, GPU, MEMORY


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12.5%", 12.5, "percent"),
        ("12.5 %", 12.5, "percent"),
        ("1.2 GiB", 1.2 * 2**30, MEMORY),
        ("512Mi", 2.0**29, MEMORY),
        ("950 MB", 950e6, MEMORY),
        ("0 B", 0, MEMORY),
        ("3.4 cores", 3.4, CPU),
        ("350m", 0.35, CPU),
        ("1,234.5", 1234.5, None),
        ("1,234,567", 1234567, None),
        ("1,234.5 MiB", 1234.5 * 2**20, MEMORY),
        ("2.5 Bil", 2.5e9, None),
        ("1.5 K", 1500, None),
        ("1e-3", 1e-3, None),
    ],
)
def test_numbers_are_read_as_dashboards_write_them(text: str, value: float, unit: str | None) -> None:
    assert number(text) == (pytest.approx(value), unit)


@pytest.mark.parametrize(
    "text", ["0,5", "1,23", "12,34,567", "0,123", "1.234,5", "5 Mb", "5 apples", "", "%", "1 2", "--1", "1,234,"]
)
def test_what_could_be_several_numbers_is_none(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize("text", ["", " ", "NaN", "null", "-", "undefined", "N/A", "+Inf", "No data"])
def test_cells_without_a_measurement_are_known(text: str) -> None:
    assert is_nothing(text)


@pytest.mark.parametrize("text", ["0", "nano", "1", "-1", " " * 130_000 + "x"])
def test_others_have_one(text: str) -> None:
    assert not is_nothing(text)


@pytest.mark.parametrize("text", ["1," * 500_000 + "%", "1" * 1_000_000 + " x", "1" + " " * 1_000_000 + "x"])
def test_long_cells_are_refused_before_any_pattern_looks_at_them(text: str) -> None:
    """A pattern that begins anew at each character would take hours."""
    assert number(text) is None


def test_percent_of_cpu_are_of_one_core_and_sizes_are_no_cores() -> None:
    assert in_base("t.csv:2", CPU, CellValue(250, "percent")) == 2.5
    assert in_base("t.csv:2", GPU, CellValue(25, "percent")) == 25
    for feature, unit in ((CPU, MEMORY), (MEMORY, CPU), (MEMORY, "percent")):
        with pytest.raises(UsageError, match=r"t.csv:2") as error:
            in_base("t.csv:2", feature, CellValue(1, unit))
        assert error.value.code == "JPO-E730"


def test_a_measurement_is_finite_and_not_negative() -> None:
    assert math.isclose(measurement("t.csv:2", CPU, " 0.5 ").value, 0.5)
    for text in ("", "nan", "inf", "-1", "1e30", "x"):
        with pytest.raises(UsageError, match=r"t.csv:2"):
            measurement("t.csv:2", CPU, text)
