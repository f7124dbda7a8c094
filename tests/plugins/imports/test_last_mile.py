"""The last mile of `jpo import`: columns of strangers, constants that no file has, tables without dates, logs of a minute ago."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Answer, Project

TABLE = """\
experiment,bsz,lr_sched,n_epochs,loss@val,wallclock min,notes
a,32,0.01,10,0.52,61,first
b,64,0.01,10,0.50,41,bigger
c,64,0.02,10,0.47,40,bigger lr
"""
OPTIM = 'batch_size = { key = "training.batch_size" }\noptim = { key = "training.optim", choices = ["adamw", "sgd"] }\n'


@pytest.fixture
def table(empty: Project) -> Project:
    (empty.folder / "table.csv").write_text(TABLE)
    return empty


def imported(project: Project, *words: str) -> Answer:
    answer = project.jpo("import", "table.csv", *words)
    assert (answer.code, answer.err) == (0, "")
    return answer


def lines(answer: Answer) -> list[str]:
    return [str(line) for line in answer.out.splitlines()]


def ends(project: Project) -> list[tuple[float, float]]:
    """End and batch size of the runs on record, oldest first."""
    runs = json.loads(project.jpo("history", "-o", "json").out)["runs"]
    return sorted((run["ended_at"], run["parameters"]["batch_size"]) for run in runs)


def test_columns_that_nothing_reads_are_listed_with_what_would_read_them(table: Project) -> None:
    shown = lines(imported(table))
    assert "lr_sched: not read; did you mean --set learning_rate=lr_sched?" in shown
    assert "not read: experiment, notes; where one is a quantity: --set NAME=COLUMN" in shown
    shown = lines(imported(table, "--set", "learning_rate=lr_sched", "--set", "train_loss=loss@val"))
    assert '    learning_rate = "lr_sched"  # --set' in shown
    assert not any("did you mean" in line for line in shown)


def test_a_column_may_begin_with_a_digit(table: Project) -> None:
    (table.folder / "table.csv").write_text(TABLE.replace("loss@val", "1st_loss"))
    assert "1st_loss: not read; did you mean --set val_loss=1st_loss?" in lines(imported(table))
    assert '    val_loss = "1st_loss"  # --set' in lines(imported(table, "--set", "val_loss=1st_loss", "--set", "memory_gib=16"))


def test_a_column_that_is_named_has_the_unit_of_its_name(table: Project) -> None:
    (table.folder / "table.csv").write_text(TABLE.replace("wallclock min", "took min"))
    shown = lines(imported(table, "--set", "duration_seconds=took min"))
    assert '    duration_seconds = { column = "took min", unit = "min" }  # --set' in shown


@pytest.mark.parametrize(
    ("given", "finding", "code"),
    [
        (
            "learning_rate=nosuch",
            "table.csv: has no column 'nosuch', which --set learning_rate names; it has experiment, ",
            "E151",
        ),
        ("speed=lr_sched", "--set: speed is nothing that is read of a run; known are ", "E305"),
        ("batch_size=-3", "--set: batch_size = -3 is not a parameter of a job", "E305"),
    ],
)
def test_what_set_cannot_mean_is_one_line(table: Project, given: str, finding: str, code: str) -> None:
    answer = table.jpo("import", "table.csv", "--set", given)
    assert (answer.code in (2, 4), answer.out, answer.err.count("\n")) == (True, "", 1)
    assert finding in answer.err
    assert f"[JPO-{code}]" in answer.err


def test_what_no_run_says_is_a_question_with_the_words_that_answer_it(table: Project) -> None:
    """Also the word without which `jpo suggest` uses none of the runs."""
    config = table.folder / "config.ini"
    config.write_text(config.read_text().replace("[training]\n", "[training]\noptim = adamw\n"))
    (table.folder / "jpo.toml").write_text(f"[parameters]\n{OPTIM}")
    (asked,) = (line for line in lines(imported(table)) if line.startswith("not known of any run: "))
    assert "num_layers" not in asked  # config.ini has none
    assert "optim. Without optim no suggestion uses them. Did all run with what config.ini has today? Then add --set " in asked
    added = asked.partition("Then add ")[2].split()
    assert added[-2:] == ["--set", "optim=adamw"]
    assert not any(line.startswith("not known") for line in lines(imported(table, *added, "--write")))
    assert "3 finished runs used" in table.jpo("suggest", "--dry-run", "--offline", "--no-learn").out


def test_a_table_without_dates_counts_in_the_order_of_its_rows(table: Project) -> None:
    note = "note: nothing says when these runs ended: they count in the order of the rows, the last as the newest"
    os.utime(table.folder / "table.csv", (1.7e9, 1.7e9))
    assert note in lines(imported(table, "--write"))
    assert ends(table) == [(1.7e9 - 2, 32), (1.7e9 - 1, 64), (1.7e9, 64)]
    (table.folder / "table.csv").write_text(f"{TABLE}d,128,0.02,10,0.46,33,last\n")
    os.utime(table.folder / "table.csv", (1.7e9 + 60, 1.7e9 + 60))
    again = imported(table, "--write")
    assert "1 run recorded, 3 on record already" in again.out
    assert "JPO-W150" not in again.out  # the file was written anew, and its runs were not
    assert ends(table)[-1] == (1.7e9 + 60, 128)


def test_a_date_alone_is_the_end_and_says_nothing_of_the_duration(table: Project) -> None:
    (table.folder / "table.csv").write_text("created,bs,val_loss\n2026-01-01,32,0.5\n2026-01-02,64,0.4\n")
    assert "would record" in imported(table).out
    assert "succeeded 2026-01-01 00:00; batch_size 32; val loss 0.5" in imported(table).out
    (table.folder / "table.csv").write_text("date,bs,val_loss,minutes\n2026-01-01,32,0.5,10\n")
    assert "succeeded 2026-01-01 00:00; batch_size 32; duration 10m 00s, val loss 0.5" in imported(table).out


def test_a_log_of_a_minute_ago_is_over_where_that_is_said(empty: Project) -> None:
    (empty.folder / "logs").mkdir()
    (empty.folder / "logs" / "metrics.csv").write_text("epoch,step,val_loss\n0,9,0.9\n")
    waiting = empty.jpo("import", "logs")
    assert "it may still be running; --finished says that it is over" in waiting.out
    assert "1 run to record, 0 on record already, 0 skipped" in empty.jpo("import", "logs", "--finished").out


def test_dry_run_is_the_default_by_its_usual_name(table: Project) -> None:
    assert imported(table, "--dry-run").out == imported(table).out
    both = table.jpo("import", "table.csv", "--dry-run", "--write")
    assert (both.code, both.out, "[JPO-E308]" in both.err) == (2, "", True)


def test_runs_of_mlflow_are_called_by_their_names(empty: Project) -> None:
    with closing(sqlite3.connect(empty.folder / "mlflow.db")) as database:
        database.executescript("""
            CREATE TABLE runs (run_uuid, name, status, start_time, end_time, lifecycle_stage);
            INSERT INTO runs VALUES ('0a1b', 'brave-elk', 'FINISHED', 1700000000000, 1700000060000, 'active');
            CREATE TABLE params (run_uuid, key, value);
            INSERT INTO params VALUES ('0a1b', 'batch_size', '32'), ('0a1b', 'eta_0', '0.01');
            CREATE TABLE tags (run_uuid, key, value);
            CREATE TABLE latest_metrics (run_uuid, key, step, value, is_nan);
            CREATE TABLE metrics (run_uuid, key, step, timestamp, value, is_nan);
        """)
    answer = empty.jpo("import", "mlflow.db")
    assert "would record brave-elk (0a1b): digits/cnn/pytorch, succeeded" in answer.out
    assert "params.eta_0: not read; did you mean --set learning_rate=params.eta_0?" in answer.out
