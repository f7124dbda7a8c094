"""Tables: separators, rows, and what is none."""

from __future__ import annotations

import pytest

from jpo.errors import TelemetryError
from jpo.telemetry.imports.table import read_table


@pytest.fixture
def table(tmp_path):
    def write(text: str, **options: str):
        path = tmp_path / "a.csv"
        path.write_bytes(text.encode(options.get("encoding", "utf-8")))
        return path

    return write


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_by_name_and_row(table, separator):
    text = 'name,lr,val\r\nr1,0.1,\r\n\r\n"a\nb",0.2,NaN\r\n'.replace(",", separator)
    runs = read_table(table("\ufeff" + text)).runs
    assert [(run.place.rpartition(":")[2], run.cells) for run in runs] == [
        ("2", {"name": "r1", "lr": "0.1"}),
        ("5", {"name": "a\nb", "lr": "0.2", "val": "NaN"}),
    ]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("", "no first row"),
        ("a,b\n", "no run below"),
        ("a,b\n1,2,3\n", r"a.csv:2: has 3 cells under 2 columns"),
        ("a,b\n1,2\n1\n", r"a.csv:3: has 1 cells under 2 columns"),
        ("a,a\n1,2\n", "two columns 'a'"),
        ('a,b\n1,"2\n', r"a.csv:2: is no row of a table"),
        ("<!doctype html>\n<html>\n", "no first row"),
        ("# run_id=1\ntime,epoch\n", "a log of one run"),
        ("a,b\n" + "1" * 200_000 + ",2\n", "field larger than field limit"),
    ],
)
def test_what_is_no_table_is_refused_with_its_row(table, text, finding):
    with pytest.raises(TelemetryError, match=finding) as caught:
        read_table(table(text))
    assert caught.value.code == "JPO-E150"
    assert "\n" not in str(caught.value)


def test_another_encoding_is_refused(table):
    with pytest.raises(TelemetryError, match="is not UTF-8"):
        read_table(table("a,b\n1,2\n", encoding="utf-16"))
