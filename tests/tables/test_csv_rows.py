"""Rows of CSV, whoever reads them."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.tables.csv_rows import is_blank, rows_of, separator_of


def broken(line: int, words: str) -> UsageError:
    return UsageError(f"t.csv:{line}", words, code="JPO-E730")


@pytest.mark.parametrize(("head", "separator"), [("a;b;c,d", ";"), ("a\tb", "\t"), ("a,b;c", ","), ("a", ",")])
def test_cells_are_separated_by_what_the_head_has_most_of(head: str, separator: str) -> None:
    assert separator_of(head) == separator


def test_a_row_has_the_number_of_the_line_where_it_ends() -> None:
    lines = ["a,b\n", "\n", '1,"x\n', 'y"\n', " ,\n"]
    assert list(rows_of(lines, broken)) == [(1, ["a", "b"]), (4, ["1", "x\ny"]), (5, [" ", ""])]


def test_what_is_no_csv_is_the_readers_error_with_its_line() -> None:
    rows = rows_of(["a,b\n", '1,"2\n'], broken)
    assert next(rows) == (1, ["a", "b"])
    with pytest.raises(UsageError, match=r"t.csv:2: unexpected end of data"):
        next(rows)


def test_blanks_alone_are_no_cells() -> None:
    assert is_blank(["", " "])
    assert not is_blank(["", "0"])
