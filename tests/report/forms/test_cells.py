from __future__ import annotations

import pytest

from jpo.records import USD, Currency
from jpo.report.document import Cell, Column, Span
from jpo.report.forms.cells import harmless, interval_of, value_of

EUR = Currency("EUR", 0.5)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Cell(None, "cost_usd"), "unknown"),
        (Cell(True), "yes"),
        (Cell(7.1, "cost_usd"), "3.55 EUR"),
        (Cell(7200.0, "time_max", prefix="≤ "), "≤ 2h 00m"),
        (Cell(""), ""),
    ],
)
def test_a_value_has_its_unit(cell: Cell, text: str) -> None:
    assert "".join(part.text for part in value_of(cell, Column("c"), EUR)) == text


def test_a_column_gives_its_quantity_to_bare_numbers() -> None:
    assert value_of(Cell(0.9), Column("share", quantity="share"), USD) == (Span("90%", ""),)


def test_an_estimate_has_its_interval_a_mean_its_error_and_an_unknown_value_neither() -> None:
    column = Column("c", quantity="cost_usd")
    assert interval_of(Cell(7.1, low=5.2, high=9.85), column, USD) == "(5.20 to 9.85)"
    assert interval_of(Cell(2.0, error=0.02134), Column("c"), USD) == "± 0.021"
    assert interval_of(Cell(None), column, USD) == ""


def test_what_steers_a_terminal_becomes_a_blank() -> None:
    assert harmless((Span("\x1b[31mred\u202e", "bad"),)) == (Span(" [31mred ", "bad"),)
