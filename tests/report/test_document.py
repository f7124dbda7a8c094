from __future__ import annotations

import math

import pytest

from jpo.records import Interval
from jpo.report.document import Cell, Column, Items, Section, Span, Table, estimate, plain_text, shown, spans


def test_a_row_has_as_many_cells_as_there_are_columns() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells under 2 columns"):
        Table((Column("a"), Column("b")), ((1,),))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_cell_holds_no_number_that_is_not_finite(number: float) -> None:
    with pytest.raises(ValueError, match="use None for unknown"):
        Cell(number)
    with pytest.raises(ValueError, match="use None for unknown"):
        Cell(1.0, low=0.0, high=number)


def test_an_interval_has_two_bounds() -> None:
    with pytest.raises(ValueError, match="two bounds"):
        Cell(1.0, low=0.5)


def test_bare_values_are_cells() -> None:
    table = Table((Column("a"), Column("b")), ((1, Cell("x", emphasis="bad")),))
    assert list(table.cells()) == [(Cell(1), Cell("x", emphasis="bad"))]


def test_an_estimate_is_a_mean_with_bounds_or_unknown() -> None:
    assert estimate(Interval(2.0, 1.0, 3.0), "cost_usd") == Cell(2.0, "cost_usd", 1.0, 3.0)
    assert estimate(None, "cost_usd") == Cell(None, "cost_usd")


def test_a_text_is_a_string_a_span_or_several() -> None:
    assert spans("a") == (Span("a", ""),)
    assert spans(Span("a")) == (Span("a", "strong"),)
    assert plain_text(("Workload ", Span("x"))) == "Workload x"


def test_a_column_that_is_empty_in_all_rows_is_not_shown_but_one_of_unknown_values_is() -> None:
    columns = tuple(map(Column, "abcd"))
    table = Table(columns, ((1, "", None, (Span(""), "")), (2, Cell(""), None, "")), name="t")
    assert list(shown((table,))) == [Table((columns[0], columns[2]), ((1, None), (2, None)), name="t")]


def test_what_has_nothing_to_say_is_not_shown() -> None:
    empty = Table((Column("a"),), ())
    blocks = ("", empty, Items(()), Section("s", (empty, Section("inner", ()))), Section("t", ("x",)), "end")
    assert list(shown(blocks)) == [Section("t", ("x",)), "end"]
