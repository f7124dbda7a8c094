"""Tables of jobs as CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.workload.table import amount, csv_rows, text_of, under


def test_what_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_bytes(b"id\n\xff\n")
    with pytest.raises(UsageError, match="is not UTF-8"):
        text_of(tmp_path / "jobs.csv", 100)


def test_cells_are_found_by_the_names_of_their_columns() -> None:
    assert under(["id", "gpus"], ["a", " 2 "], "jobs.csv:2") == {"id": "a", "gpus": "2"}
    with pytest.raises(UsageError, match=r"jobs.csv:2: has 1 cells below 2 columns"):
        under(["id", "gpus"], ["a"], "jobs.csv:2")


def test_a_broken_row_is_named() -> None:
    with pytest.raises(UsageError, match=r"jobs.csv:2: is not CSV"):
        list(csv_rows('id\n"a\n', Path("jobs.csv")))


def test_an_amount_is_a_number_from_0_or_unknown() -> None:
    assert (amount("1.5", "jobs.csv:2", "gpus"), amount("", "jobs.csv:2", "gpus")) == (1.5, None)
    for cell in ("-1", "x", "1e300"):
        with pytest.raises(UsageError, match=r"jobs.csv:2: column gpus is .* not a number from 0; leave it empty"):
            amount(cell, "jobs.csv:2", "gpus", "leave it empty")
