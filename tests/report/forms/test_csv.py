from __future__ import annotations

import csv as reader
from io import StringIO

import pytest
from report.forms.sample import ATTACKS, RUNS, SAMPLE, attacked

from jpo.report.document import Column, Document, Section, Table
from jpo.report.forms import csv
from jpo.report.forms.csv import csv_line, harmless

GOLDEN = """\
section,key,now,next,why
,training.batch_size,32,64,64 took less time
,resources.gpus,1,1,

section,forecast,now,now unit,next (90% interval),next (90% interval) unit,next (90% interval) low,next (90% interval) high,\
next (90% interval) error,SLA (s),
,duration,3578.0,s,2790.0,s,2400.0,3700.0,,7200.0,ok
,cost,7.1,USD,5.2,USD,4.1,7.0,,,
,val loss,,,0.25,,,,0.0123,,at risk

section,run,time (s),change
Newest,r1,12.5,0.78
Newest,r2,,1.0
"""


def rows(text: str) -> list[list[str]]:
    return list(reader.reader(StringIO(text, newline="")))


def test_every_table_is_written_with_raw_values_and_units() -> None:
    assert csv.render(SAMPLE) == GOLDEN


def test_tables_of_one_name_are_one_table_with_their_sections() -> None:
    document = Document("t", (Section("a/b/c", (RUNS,)), Section("d/e/f", (RUNS,))))
    assert csv.render(document) == (
        "section,run,time (s),change\na/b/c,r1,12.5,0.78\na/b/c,r2,,1.0\nd/e/f,r1,12.5,0.78\nd/e/f,r2,,1.0\n"
    )


def test_a_published_key_is_the_header_and_amounts_are_usd() -> None:
    table = Table((Column("cost", "figure", "cost_usd", key="cost_usd"), Column("ok")), ((7.1, True),))
    assert csv.render(Document("t", (table,))) == "cost_usd,ok\n7.1,True\n"


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_are_data(attack: str) -> None:
    header, row = rows(csv.render(attacked(attack)))
    assert len(header) == len(row) == 3
    assert all(cell.isprintable() and not cell.startswith(("=", "+", "-", "@")) for cell in (*header, *row))


def test_negative_numbers_stay_numbers() -> None:
    assert csv.render(Document("t", (Table((Column("a"),), ((-1.5,),)),))) == "a\n-1.5\n"


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", " =1", "-", "＝1", "::error::a", " ::a::"])
def test_a_formula_is_made_harmless_and_a_row_begins_no_command(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["\t=1", "\r=1", "\n=1", "\u200b=1"])
def test_what_is_not_seen_hides_no_formula(text: str) -> None:
    assert harmless(text) == "' =1"


@pytest.mark.parametrize("cell", [-1.5e-7, -3, None, True, "", "a=b", "digits/cnn", "2025-11-21", "1e+300"])
def test_numbers_and_other_texts_stay(cell: str | float | None) -> None:
    assert harmless(cell) == cell


def test_a_row_is_one_line_and_read_back_as_it_was_but_for_what_steers() -> None:
    awkward = ('a "quoted", text', "two\nlines", "half\rline", "=1+1", "##[error]x")
    line = csv_line([*awkward, None, -0.5])
    assert line.endswith("-0.5\n")
    assert line.count("\n") == 1
    assert next(reader.reader(StringIO(line, newline=""))) == [
        *(awkward[0], "two lines", "half line", "'=1+1", "# #[error]x", "", "-0.5"),
    ]


def test_a_long_text_loses_its_middle_unless_it_is_to_be_read_by_programs() -> None:
    text = '{"a": "' + "x" * 100_000 + '"}'
    assert len(csv_line([text])) < 1000
    assert next(reader.reader(StringIO(csv_line([text], whole=True)))) == [text]
