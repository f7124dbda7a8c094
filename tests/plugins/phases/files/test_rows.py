from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.rows import header_of, rows_of, text_of

PATH = Path("t.csv")


@pytest.mark.parametrize("first", ["sep=,\n", "SEP=,\r\n", ""])
def test_the_line_for_excel_is_no_row(first: str) -> None:
    assert [cells for _, cells in rows_of(PATH, f'{first}Time,"a,b"\n1,2\n')] == [["Time", "a,b"], ["1", "2"]]


def test_lines_are_counted_as_editors_do() -> None:
    assert [number for number, _ in rows_of(PATH, "sep=;\na;b\n\n1;2\n")] == [2, 4]


def test_a_name_that_is_none_is_refused() -> None:
    assert header_of(PATH, 1, [" a ", "b"]) == ["a", "b"]
    with pytest.raises(UsageError, match=r"t.csv:1: column 2 has a name of 60001 characters"):
        header_of(PATH, 1, ["a", " " * 60_000 + "b"])


def test_text_of_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("Time,a\n".encode("utf-16"))
    with pytest.raises(UsageError, match="is not UTF-8"):
        text_of(tmp_path / "t.csv")


@pytest.mark.parametrize("cell", ["1,234", "12,500 MiB"])
def test_a_comma_that_may_part_decimals_or_thousands_is_asked_about(cell: str) -> None:
    with pytest.raises(UsageError, match=r"t.csv:2: .* may be a thousand times as much"):
        list(rows_of(PATH, f"Time;a\n1;{cell}\n"))
    assert len(list(rows_of(PATH, f'Time,a\n1,"{cell}"\n'))) == 2
    assert len(list(rows_of(PATH, "Time;a\n1;1,234,567\n2;1,234.5\n"))) == 3
