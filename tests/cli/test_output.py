from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from jpo.cli.gate import save
from jpo.cli.output import Output, can_be_kept, rendered, width
from jpo.errors import UsageError
from jpo.report.document import Column, Document, Table

SUBJECT = SimpleNamespace(document=lambda result: Document(f"Result {result}"), as_json=lambda result: {"result": result})


@pytest.mark.parametrize(
    ("form", "text"), [("text", "Result 3"), ("json", '"result": 3'), ("markdown", "Result 3"), ("html", "<title>Result 3")]
)
def test_a_result_has_every_form(form: str, text: str):
    assert text in rendered(SUBJECT, 3, form)


def test_a_file_gets_the_form_of_its_suffix_and_stdout_the_one_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    files = (tmp_path / "a.json", tmp_path / "b.html", tmp_path / "c.txt")
    Output("text", files).show(SUBJECT, 3)
    assert capsys.readouterr().out.strip() == "Result 3"
    assert (files[0].read_text(), files[2].read_text().strip()) == ('{\n  "result": 3\n}\n', "Result 3")
    assert files[1].read_text().startswith("<!DOCTYPE html>")


def test_a_place_that_cannot_be_written_is_found_out_before_anything_is_done(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be written"):
        can_be_kept([tmp_path])
    with pytest.raises(UsageError, match="name another one"):
        save(tmp_path / "no" / "such.json", "")


def test_only_what_is_on_record_need_not_be_computed_again(tmp_path: Path):
    output = Output("text", (tmp_path / "no" / "such.json",))
    with pytest.raises(UsageError, match="see `jpo explain`"):
        output.show(SUBJECT, 3, on_record=True)
    with pytest.raises(UsageError, match="name another one"):
        output.show(SUBJECT, 3)


@pytest.mark.parametrize(("columns", "expected"), [("72", 72), ("", 120), ("many", 120), ("0", 120)])
def test_piped_output_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, columns: str, expected: int):
    monkeypatch.setattr("jpo.cli.output.for_people", lambda: False)
    monkeypatch.setenv("COLUMNS", columns)
    assert width() == expected


def test_a_published_csv_goes_before_the_tables_of_the_document():
    def document(count: int) -> Document:
        return Document("Counts", (Table((Column("count", "figure"),), ((count,),)),))

    counts = SimpleNamespace(document=document, as_json=lambda count: {"count": count})
    assert rendered(counts, 3, "csv") == "count\n3\n"
    rows = SimpleNamespace(document=document, as_json=counts.as_json, as_csv=lambda count: f"{count}\n")
    assert rendered(rows, 3, "csv") == "3\n"
