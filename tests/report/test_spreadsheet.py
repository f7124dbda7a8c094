"""CSV for spreadsheets: a name is shown and never run as a formula."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from jpo.report.spreadsheet import csv_line, harmless


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-", "＝1"])
def test_a_formula_is_made_harmless(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("cell", [-1.5e-7, -3, None, True, "", "a=b", "digits/cnn", "2025-11-21", "1e+300"])
def test_numbers_and_other_texts_stay(cell: str | float | None) -> None:
    assert harmless(cell) == cell


def test_a_row_is_read_back_as_it_was_but_for_formulas() -> None:
    awkward = ('a "quoted", text', "two\nlines", "half\rline", "=1+1")
    line = csv_line([*awkward, None, -0.5])
    assert line.endswith("-0.5\n")
    assert next(csv.reader(StringIO(line, newline=""))) == [*awkward[:3], "'=1+1", "", "-0.5"]
