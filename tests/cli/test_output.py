from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from jpo.__main__ import run
from jpo.cli import output
from jpo.cli.gate import save
from jpo.cli.output import Output, can_be_kept, rendered, track_in_lines, width
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


def test_a_place_that_is_a_link_to_itself_is_refused_in_a_line(tmp_path: Path):
    loop = tmp_path / "loop.md"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match="Too many levels of symbolic links"):
        can_be_kept([loop])


@pytest.mark.parametrize("name", ["config.ini", "jpo.toml", "JPO.toml", "pyproject.toml", "link.md"])
def test_no_result_becomes_settings_where_there_are_none_yet(tmp_path: Path, name: str):
    (tmp_path / "link.md").symlink_to("jpo.toml")
    with pytest.raises(UsageError, match="not a place for a result"):
        can_be_kept([tmp_path / name])


@pytest.mark.parametrize(
    "command",
    [
        "suggest --dry-run --in-force same.svg --output-file",
        "pareto --plot same.svg --output-file",
        "optimize --on local --plot same.svg --output-file",
        "lab simulate --workloads 1 --runs 1 --plot same.svg --output-file",
        "lab replay toy.csv --plot same.svg --output-file",
        "cluster evaluate --draw 5 --procs 4 --out-jobs same.svg --out-schedule",
        "cluster describe --draw 5 --procs 4 --output-file same.svg --output-file",
        "comment --dry-run --output-file same.svg --output-file",
        "report --csv . --html",
    ],
)
def test_no_command_writes_two_results_into_one_file(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "config.ini").write_text("[a]\ndataset = d\nmodel = m\nframework = f\nbatch_size = 16\n")
    (tmp_path / "toy.csv").write_text("")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    name = "sla_metrics.csv" if command.startswith("report") else "same.svg"
    assert run([*command.split(), f"sub/../{name}"]) == 2
    assert "is named twice; name a file for each result [JPO-E307]" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / name).exists()


def test_what_keeps_nothing_may_be_named_twice():
    can_be_kept([Path("/dev/null"), Path("/dev/null")])


@pytest.mark.parametrize(
    "command",
    [
        *("suggest --dry-run --output-file", "predict --output-file", "pareto --output-file", "lab logs --extended"),
        *(
            "state export",
            "prices refresh",
            "lab simulate --workloads 1 --runs 1 --output-file",
            "lab replay toy.csv --output-file",
        ),
    ],
)
@pytest.mark.parametrize("file", ["jpo.toml", "pyproject.toml", "other/config.ini", ".jpo/jpo.db"])
def test_no_command_makes_a_result_of_what_jpo_works_with(
    command: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in ("config.ini", "toy.csv"):
        (tmp_path / name).write_text("[a]\ndataset = d\nmodel = m\nframework = f\nbatch_size = 16\n")
    for folder in ("other", ".jpo"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    if file.startswith(".jpo") and command.startswith(("prices", "lab simulate", "lab replay")):
        pytest.skip("works with no store")
    assert run([*command.split(), file]) == 2
    assert "JPO-E307" in capsys.readouterr().err
    assert not (tmp_path / file).exists()


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


def test_without_a_terminal_a_long_wait_is_told_in_lines_and_a_short_one_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 1000, 10))  # every look takes ten seconds
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    assert list(track_in_lines(range(4), "train")) == [0, 1, 2, 3]
    assert capsys.readouterr().err == "jpo: train: 2 of 4 rounds, about 20s left\n"
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: 0.0))
    assert list(track_in_lines(range(4), "train")) == [0, 1, 2, 3]
    assert capsys.readouterr().err == ""
