"""`jpo import`: what it shows, what it records, and that the same runs advise the same wherever they come from."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

DATA = Path(__file__).with_name("data")
TABLE = """\
run_name,state,start,runtime (min),bs,lr,val/loss,gpu util %
a,finished,2026-01-01T10:00:00Z,10,32,0.01,0.4,55
b,crashed,2026-01-02T10:00:00Z,5,64,0.01,,45
c,running,2026-01-03T10:00:00Z,,64,0.01,0.3,45
"""
DECIDED = ("status", "suggested", "changes", "forecast", "expected", "confidence", "evidence", "reason_codes", "guard")


@pytest.fixture
def table(empty):
    path = empty.folder / "table.csv"
    path.write_text(TABLE)
    return path


def runs_on_record(project):
    return json.loads(project.jpo("history", "--format", "json").out)["runs"]


def test_without_write_it_shows_the_map_and_the_runs_and_writes_nothing(empty, table):
    answer = empty.jpo("import", "table.csv")
    assert (answer.code, answer.err) == (0, "")
    assert '    duration_seconds = { column = "runtime (min)", unit = "min" }  # guessed' in answer.out.splitlines()
    assert "would record a: digits/cnn/pytorch, succeeded" in answer.out
    assert "skipped table.csv:4: it is running: its run is not over" in answer.out
    assert answer.out.splitlines()[-1] == "2 runs to record, 0 on record already, 1 skipped; nothing is written yet: add --write"
    assert not (empty.folder / ".jpo").exists()


def test_of_a_folder_of_several_tools_all_are_read_but_tables_which_are_named(empty, table):
    """And a map of the columns of tables does not keep the runs of other tools out."""
    (empty.folder / "jpo.toml").write_text('[imports.columns]\nlearning_rate = "lr"\n')
    folder = empty.folder / "mixed"
    for name in ("hugging", "lightning"):
        (folder / name).mkdir(parents=True)
    state = {
        "epoch": 1.0,
        "global_step": 9,
        "num_train_epochs": 1,
        "log_history": [{"epoch": 1.0, "step": 9, "train_runtime": 60.0}],
    }
    (folder / "hugging" / "trainer_state.json").write_text(json.dumps(state))
    (folder / "lightning" / "metrics.csv").write_text("epoch,step,val_loss\n0,9,0.9\n")
    shutil.copy(table, folder / "more.csv")
    told = empty.jpo("import", "mixed", "table.csv")
    assert (told.code, told.err) == (0, "")
    for tool in ("mixed/hugging/trainer_state.json: huggingface", "mixed/lightning/metrics.csv: lightning", "table.csv: table"):
        assert f"\n{tool}" in f"\n{told.out}"
    assert "note: mixed/hugging/trainer_state.json has no 'lr' (learning_rate), named in [imports] of jpo.toml" in told.out
    assert "note: not read in mixed: mixed/more.csv; a table is read where it is named itself" in told.out
    assert "not read in" not in empty.jpo("import", "mixed", "mixed/more.csv").out


def test_imported_runs_are_on_record_once_with_their_source(empty, table):
    assert "2 runs recorded, 0 on record already" in empty.jpo("import", "table.csv", "--write").out
    assert "0 runs recorded, 2 on record already" in empty.jpo("import", "table.csv", "--write").out
    assert [run["run_id"] for run in runs_on_record(empty)] == ["a", "b"]
    with sqlite3.connect(empty.folder / ".jpo" / "jpo.db") as database:
        assert database.execute("SELECT source FROM runs ORDER BY run_id").fetchall() == [
            ("table: table.csv:2",),
            ("table: table.csv:3",),
        ]
    assert "table: table.csv:2" in empty.jpo("audit", "export").out
    database.close()


def test_a_run_that_ends_at_another_time_than_on_record_is_named(empty, table):
    empty.jpo("import", "table.csv", "--write")
    table.write_text(TABLE.replace("2026-01-01T10", "2026-01-01T11"))
    answer = empty.jpo("import", "table.csv", "--write")
    assert "note: a ends 2026-01-01 11:10" in answer.out
    assert "[JPO-W150]" in answer.out


@pytest.mark.parametrize(
    ("row", "finding"),
    [
        (
            "d,finished,2026-01-04T10:00:00Z,ten,32,0.01,0.4,55",
            "table.csv:5: runtime (min) is read as duration_seconds in min, and 'ten'",
        ),
        ("d,finished,2026-01-04T10:00:00Z,10,32", "table.csv:5: has 5 cells under 8 columns"),
        (
            "d,finished,tomorrow,10,32,0.01,0.4,55",
            "table.csv:5: start is read as started_at in ISO 8601, and 'tomorrow' is not a moment",
        ),
        ("d,resting,2026-01-04T10:00:00Z,10,32,0.01,0.4,55", "table.csv:5: state = 'resting' does not say how a run ends"),
    ],
)
def test_one_bad_row_is_one_line_and_nothing_is_recorded(empty, table, row, finding):
    good = empty.folder / "good.csv"
    good.write_text(TABLE)
    table.write_text(TABLE + row + "\n")
    answer = empty.jpo("import", "good.csv", "table.csv", "--write")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.count("\n") == 1
    assert finding in answer.err
    assert not (empty.folder / ".jpo").exists()


def test_the_map_of_jpo_toml_counts(empty, table):
    toml = '[imports.columns]\nduration_seconds = { column = "runtime (min)", unit = "h" }\nlearning_rate = ""\n'
    (empty.folder / "jpo.toml").write_text(toml)
    empty.jpo("import", "table.csv", "--write", "--set", "gpus=2", "--dataset", "mnist")
    run = runs_on_record(empty)[0]
    assert run["parameters"] == {"batch_size": 32, "gpus": 2}
    assert run["outcome"]["duration_seconds"] == 36000


@pytest.mark.parametrize(
    ("arguments", "code", "finding"),
    [
        ([], 2, "names nothing to read"),
        (["s3://bucket/runs.csv"], 2, "jpo import: names no address of a server"),
        (["http://mlflow:50000000"], 2, "jpo import: names no address of a server"),
        (["http://me@here:x@mlflow:5000"], 2, "jpo import: names no address of a server"),
        (["http://127.0.0.1:1", "--experiment", "nightly"], 4, "http://127.0.0.1:1: no connection"),
        (["table.csv", "--experiment", "nightly"], 2, "--experiment: is for a server of MLflow"),
        (["nothing.csv"], 4, "nothing.csv: cannot be read"),
        (["runs"], 2, "contains no runs that jpo import knows"),
        (["table.csv", "--set", "dropout=0.1"], 2, "dropout = 0.1 is not a parameter"),
        (["table.csv", "--format", "lightning"], 4, "table.csv:2: has no step"),
        (["table.csv", "--for", "other.ini"], 4, "table.csv:2: does not say its dataset; add --dataset NAME"),
    ],
)
def test_what_cannot_be_imported_is_said_in_a_line(empty, table, arguments, code, finding):
    (empty.folder / "runs").mkdir()
    answer = empty.jpo("import", *arguments)
    assert (answer.code, answer.err.count("\n")) == (code, 1)
    assert finding in answer.err


def test_no_line_is_wider_than_the_terminal_but_those_of_jpo_toml_stay_whole(empty, table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    lines = empty.jpo("import", "table.csv").out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("    ")) <= 60
    assert '    duration_seconds = { column = "runtime (min)", unit = "min" }  # guessed' in lines


def test_accuracies_and_own_metrics_are_read(empty):
    """Percentages are known by a name with %, else where all are above 1; the direction of an own metric is not asked here."""
    (empty.folder / "jpo.toml").write_text('[imports.metrics]\nf1 = "eval/f1"\n')
    rows = ["end,minutes,val/acc,eval/f1", "2026-01-01,10,91.5,0.7", "2026-01-02,10,88,nan"]
    (empty.folder / "theirs.csv").write_text("\n".join(rows) + "\n")
    answer = empty.jpo("import", "theirs.csv", "--write", "--set", "batch_size=8")
    lines = answer.out.splitlines()
    assert '    val_accuracy = { column = "val/acc", unit = "percent" }  # guessed' in lines
    assert lines[lines.index("    [imports.metrics]") + 1] == '    f1 = "eval/f1"  # jpo.toml'
    assert "accuracy 0.915, f1 0.7 (" in answer.out
    with sqlite3.connect(empty.folder / ".jpo" / "jpo.db") as database:
        assert database.execute("SELECT val_accuracy, metrics FROM runs ORDER BY ended_at").fetchall() == [
            (0.915, '{"f1":0.7}'),
            (0.88, "{}"),
        ]
    database.close()


def test_parameters_and_metrics_of_the_teams_own_are_known_by_their_names(empty):
    config = empty.config.read_text()
    empty.config.write_text(f"{config}[model]\ndropout = 0.1\noptimizer = adam\n")
    toml = (
        '[parameters]\ndropout = { key = "model.dropout", min = 0.0, max = 0.5 }\n'
        'optimizer = { key = "model.optimizer", choices = ["adam", "sgd"] }\n'
        '[metric]\nname = "f1"\ndirection = "max"\n[imports.columns]\noptimizer = "opt"\n'
    )
    (empty.folder / "jpo.toml").write_text(toml)
    (empty.folder / "theirs.csv").write_text("end,minutes,config.dropout,opt,eval/f1,f1\n2026-01-01,10,0.2,sgd,0.1,0.7\n")
    answer = empty.jpo("import", "theirs.csv", "--write")
    lines = [line.strip() for line in answer.out.splitlines()]
    assert 'dropout = "config.dropout"  # guessed' in lines, answer.err
    assert 'f1 = "f1"  # guessed' in lines
    (run,) = runs_on_record(empty)
    assert (run["parameters"], run["outcome"]["metrics"]) == ({"dropout": 0.2, "optimizer": "sgd"}, {"f1": 0.7})


@pytest.mark.parametrize(
    ("toml", "cells", "code", "finding"),
    [
        ("", ["0.91", "91"], "JPO-E159", "'val/acc', read as val_accuracy, contains 0.91 and 91: neither all in 0..1"),
        ("", ["101", "91"], "JPO-E159", "contains 91 and 101"),
        ("", ["good", "0.9"], "JPO-E152", "theirs.csv:2: val/acc is read as val_accuracy in ratio, and 'good' is not a number"),
        (
            '[imports.columns]\nval_loss = "val/acc"',
            [".9", ".8"],
            "JPO-E159",
            "of val_loss less is better, and 'val/acc' is called",
        ),
        ('[imports.columns]\nval_accuracy = "loss"\nval_loss = "loss"', [".9", ".8"], "JPO-E159", "from one column, 'loss'"),
        (
            '[imports.columns]\nval_loss = "loss"\n[imports.metrics]\nf1 = "loss"',
            [".9", ".8"],
            "JPO-E159",
            "val_loss and metrics.f1",
        ),
        ('[imports.metrics]\nval_loss = "loss"', [".9", ".8"], "JPO-E157", "is a name of JPO's own"),
        ('[imports.metrics]\n"my f1" = "loss"', [".9", ".8"], "JPO-E157", "or none that a metric can have"),
        ('[imports.metrics]\nf1 = "f2"', [".9", ".8"], "JPO-E151", "has no column 'f2'"),
    ],
)
def test_what_has_no_one_direction_or_unit_is_refused(empty, toml, cells, code, finding):
    (empty.folder / "jpo.toml").write_text(toml)
    rows = [f"2026-01-0{number},10,{cell},0.5" for number, cell in enumerate(cells, start=1)]
    (empty.folder / "theirs.csv").write_text("\n".join(["end,minutes,val/acc,loss", *rows]) + "\n")
    answer = empty.jpo("import", "theirs.csv", "--write")
    assert (answer.out, answer.err.count("\n")) == ("", 1)
    assert code in answer.err
    assert finding in answer.err
    assert not (empty.folder / ".jpo").exists()


def test_runs_of_other_tools_are_recorded(empty):
    shutil.copytree(DATA, empty.folder / "theirs")
    for path in (empty.folder / "theirs").rglob("*"):
        os.utime(path, (1.75e9, 1.75e9))
    assert empty.jpo("import", "theirs", "--write").code == 0
    assert "0 runs recorded, 6 on record already" in empty.jpo("import", "theirs", "--write").out
    assert {run["run_id"].partition("-")[0] for run in runs_on_record(empty)} >= {"huggingface", "lightning"}


def test_a_table_that_grew_adds_its_new_rows_alone(empty, table):
    """At its top, as W&B's does; no id of a run depends on its row."""
    table.write_text(TABLE.replace("run_name", "notes"))
    assert "2 runs recorded, 0 on record already" in empty.jpo("import", "table.csv", "--write").out
    head, rows = TABLE.replace("run_name", "notes").split("\n", 1)
    table.write_text(f"{head}\nnew,finished,2026-01-09T10:00:00Z,9,32,0.01,0.35,50\n{rows}")
    assert "1 run recorded, 2 on record already" in empty.jpo("import", "table.csv", "--write").out
