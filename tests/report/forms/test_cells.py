"""A cell in words: the same value, unit and interval in every form for people."""

from __future__ import annotations

import pytest

from jpo.records import USD, Currency, Interval
from jpo.report.document import Cell, Column, Span, estimate
from jpo.report.forms.cells import harmless, interval_of, value_of

PLAIN = Column("value")
SECONDS = Column("duration", "figure", "duration_seconds")
COST = Column("cost", "figure", "cost_usd")
EUR = Currency("EUR", 0.5)


def shown(cell: Cell, column: Column = PLAIN, currency: Currency = USD) -> str:
    return "".join(span.text for span in value_of(cell, column, currency))


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "unknown"), ("", ""), (True, "yes"), (False, "no"), (32, "32"), ("sgd", "sgd"), (0.00012345, "0.0001234")],
)
def test_a_value_without_a_quantity_is_shown_as_it_is(value: float | str | None, text: str) -> None:
    assert shown(Cell(value)) == text


def test_a_number_has_the_unit_of_its_column_unless_it_has_its_own() -> None:
    assert shown(Cell(3578.0), SECONDS) == "59m 38s"
    assert shown(Cell(7.1, "cost_usd"), SECONDS) == "7.10 USD"
    assert shown(Cell(7.1), COST, EUR) == "3.55 EUR"
    assert shown(Cell(0.9), Column("share", quantity="share")) == "90%"
    assert shown(Cell(None), COST) == "unknown"


def test_a_prefix_precedes_what_is_known_and_never_unknown() -> None:
    assert shown(Cell(7200.0, prefix="≤ "), SECONDS) == "≤ 2h 00m"
    assert shown(Cell(None, prefix="≤ "), SECONDS) == "unknown"


def test_unknown_is_dim_and_a_part_keeps_its_own_emphasis() -> None:
    assert value_of(Cell(None), PLAIN, USD) == (Span("unknown", "dim"),)
    assert value_of(Cell(None, emphasis="bad"), PLAIN, USD) == (Span("unknown", "bad"),)
    assert value_of(Cell(("a ", Span("b", "good")), emphasis="strong"), PLAIN, USD) == (Span("a ", "strong"), Span("b", "good"))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (estimate(Interval(2790.0, 2400.0, 3700.0), "duration_seconds"), "(40m 00s to 1h 01m)"),
        (Cell(0.25, "val_loss", error=0.0123), "± 0.012"),
        (Cell(2.0, error=0.02134), "± 0.021"),
        (Cell(0.25, "val_loss"), ""),
        (Cell("fails"), ""),
        (estimate(None), ""),
    ],
)
def test_an_estimate_is_followed_by_its_interval_or_its_error(cell: Cell, text: str) -> None:
    assert interval_of(cell, PLAIN, USD) == text


def test_the_bounds_of_an_amount_are_in_the_currency_of_the_reader() -> None:
    assert interval_of(estimate(Interval(5.2, 4.1, 7.0), "cost_usd"), COST, EUR) == "(2.05 to 3.50)"
    assert interval_of(Cell(7.1, low=5.2, high=9.85), COST, USD) == "(5.20 to 9.85)"


def test_no_text_can_steer_a_terminal_or_begin_a_line() -> None:
    assert shown(Cell("a\x1b[31m\n\u202eb")) == "a [31m  b"
    assert harmless((Span("x\ty", "good"),)) == (Span("x y", "good"),)
    assert harmless((Span("\x1b[31mred\u202e", "bad"),)) == (Span(" [31mred ", "bad"),)
