"""Tables: separators, rows, and what is none."""

from __future__ import annotations

import pytest

from jpo.errors import TelemetryError
from jpo.plugins.imports.foreign import MOST_CELLS
from jpo.plugins.imports.table import read_table


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
        ('a,b\n1,"2\n', r"a.csv:2: is not a row of a table"),
        ("<!doctype html>\n<html>\n", "no first row"),
        (",".join(f"c{number}" for number in range(MOST_CELLS + 1)), "more than [0-9]+ columns"),
        ("# run_id=1\ntime,epoch\n", "a log of one run"),
        ("a,b\n" + "1" * 200_000 + ",2\n", "field larger than field limit"),
    ],
)
def test_what_is_no_table_is_refused_with_its_row(table, text, finding):
    with pytest.raises(TelemetryError, match=finding) as caught:
        read_table(table(text))
    assert caught.value.code == "JPO-E150"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("encoding", "notes"), [("utf-8", 0), ("utf-8-sig", 0), ("utf-16", 0), ("cp1252", 1)])
def test_encodings_of_spreadsheets_are_read(table, encoding, notes):
    """UTF-16 and Windows-1252 were refused before; the second is said, since any bytes look like it."""
    found = read_table(table("näme,b\nMüller,2\n", encoding=encoding))
    assert (found.runs[0].cells, len(found.notes)) == ({"näme": "Müller", "b": "2"}, notes)


@pytest.mark.parametrize("data", [b"a,b\n1,\x81\n", b"a,b\n1,\x00\n", b"\xff\xfea", b"\x89PNG\r\n\x1a\n\x00\x00"])
def test_what_is_no_text_is_refused(tmp_path, data):
    (tmp_path / "table.csv").write_bytes(data)
    with pytest.raises(TelemetryError, match="is not text in UTF-8, UTF-16 or Windows-1252"):
        read_table(tmp_path / "table.csv")


def test_decimal_commas_are_read_where_the_cells_prove_them(table):
    found = read_table(table("lr;samples;note\n0,01;1.500;v1\n0,1;20.000;v2\n"))
    assert [run.cells for run in found.runs] == [
        {"lr": "0.01", "samples": "1500", "note": "v1"},
        {"lr": "0.1", "samples": "20000", "note": "v2"},
    ]
    assert "decimals follow commas" in found.notes[0]


def test_as_many_rows_are_read_as_the_message_says(table, monkeypatch):
    monkeypatch.setattr("jpo.plugins.imports.table.MOST_RUNS", 2)
    assert len(read_table(table("a,b\n1,2\n3,4\n")).runs) == 2
    with pytest.raises(TelemetryError, match="more than 2 rows"):
        read_table(table("a,b\n1,2\n3,4\n5,6\n"))
