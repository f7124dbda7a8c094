"""Which texts are numbers."""

from __future__ import annotations

import math

import pytest

from jpo.telemetry.digits import number


@pytest.mark.parametrize("text", ["32", "-1.5", "0.001", "1e-05", "1E+22", ".5", "5."])
def test_what_programs_write_is_read(text):
    assert number(text) == float(text)


@pytest.mark.parametrize("text", ["NaN", "nan", "+Inf", "-inf", "Infinity"])
def test_what_is_not_finite_is_written_out(text):
    assert not math.isfinite(number(text))


@pytest.mark.parametrize(
    "text", ["\u0663\u0662", "3_2", " 32 ", "32\n", "1e400", "-1e999", "0x10", "+5", "", "1,5", "\uff13", "9" * 65, "\u0131nf"]
)
def test_what_only_python_would_read_is_none(text):
    with pytest.raises(ValueError, match="is not a number"):
        number(text)
