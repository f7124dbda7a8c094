"""A new number in the style of the old text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.config import format_value
from jpo.records import Parameter


def written(name: str, old: str, value: float, old_value: float | None = None) -> str:
    return format_value(Parameter(name, f"t.{name}", float(old) if old_value is None else old_value, old, 1), value)


@pytest.mark.parametrize(
    ("name", "old", "value", "new"),
    [
        ("batch_size", "32", 64.0, "64"),
        ("batch_size", "32.0", 128.0, "128"),
        ("batch_size", "1e2", 2e20, "200000000000000000000"),
        ("gpus", "2", 0.0, "0"),
        ("learning_rate", "0.1", 0.014, "0.014"),
        ("learning_rate", "0.1", 0.1 + 0.2, "0.30000000000000004"),
        ("learning_rate", "0.1", 1e-5, "0.00001"),
        ("learning_rate", "0.10", 1.0, "1"),
        ("learning_rate", "1", 0.5, "0.5"),
        ("learning_rate", "1e-3", 0.0005, "5e-4"),
        ("learning_rate", "1E-3", 0.00125, "1.25e-3"),
        ("learning_rate", "1e-1", 1.0, "1e0"),
        ("cpus", "4", 6.0, "6"),
        ("cpus", "4", 5.6, "6"),
        ("cpus", "4", 0.2, "1"),
        ("cpus", "4.0", 5.5, "5.5"),
    ],
)
def test_numbers_keep_the_style_of_the_old_text(name: str, old: str, value: float, new: str) -> None:
    assert written(name, old, value) == new


@pytest.mark.parametrize(
    ("old", "old_gib", "value", "new"),
    [
        ("16Gi", 16.0, 24.0, "24Gi"),
        ("16", 16.0, 24.4, "24"),
        ("1.5Gi", 1.5, 2.25, "2.25Gi"),
        ("512 MiB", 0.5, 2.0, "2048 MiB"),
        ("16000", 16000 * 1e6 / 2**30, 8.0, "8590"),
        ("16.0G", 16e9 / 2**30, 32e9 / 2**30, "32G"),
        ("4Gi", 4.0, 0.3, "1Gi"),
        ("0Mi", 0.0, 8.0, "8Gi"),
    ],
)
def test_memory_keeps_its_unit(old: str, old_gib: float, value: float, new: str) -> None:
    assert written("memory_gib", old, value, old_gib) == new


def test_a_fraction_of_a_whole_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"epochs = 2\.5 is not a whole number"):
        written("epochs", "2", 2.5)


@given(st.floats(min_value=1e-12, max_value=1e6), st.sampled_from(["0.1", "1e-3", "3"]))
def test_learning_rates_read_back_exactly(value: float, old: str) -> None:
    assert float(written("learning_rate", old, value)) == value
