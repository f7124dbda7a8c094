"""`jpo lab logs`: figures of many logs, and the table of all runs with suggestion, reward and SLA."""

from __future__ import annotations

import csv
import io
import json
import math
import os

import pytest

from jpo.report.history import DECISION

TOML = """
[sla]
time_max = "60s"
cost_max = 0.0009
val_loss_max = 0.05
gpu_util_min = 0.5
"""


@pytest.fixture
def with_targets(project):
    path = project.folder / "jpo.toml"
    path.write_text(path.read_text() + TOML)
    return project


def table(project, *arguments):
    """The extended CSV by run id."""
    answer = project.jpo("lab", "logs", "runs", "--extended", "all.csv", *arguments)
    assert answer.code == 0, answer.err
    return {row["run_id"]: row for row in csv.DictReader(io.StringIO((project.folder / "all.csv").read_text()))}


def snapshot(project):
    return {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}


def test_the_table_says_how_runs_ended_what_they_took_and_what_did_best(project):
    project.log(7, 64, 10.0, status="oom_killed")
    answer = project.jpo("lab", "logs", "runs")
    assert (answer.code, answer.err) == (0, "")
    lines = [" ".join(line.split()) for line in answer.out.split("\n")]
    assert lines[2:4] == ["Workload digits/cnn/pytorch", "8 runs: 7 succeeded, 1 oom killed"]
    assert "duration 7 1m 11s 1m 10s 41.5s to 1m 39s 40s" in lines
    assert "by time 64 41s 36.59 0.00091 USD 0.1 3 1" in lines
    assert "by cost 64 41s 36.59 0.00091 USD 0.1 3 1" in lines


def test_nothing_is_written_and_no_store_is_made(project):
    before = snapshot(project)
    for form in ("table", "json", "csv", "markdown", "html"):
        assert project.jpo("lab", "logs", "runs", "-o", form).code == 0
    assert snapshot(project) == before


def test_json_and_csv_say_the_same(project):
    (one,) = json.loads(project.jpo("lab", "logs", "runs", "-o", "json").out)["workloads"]
    (row,) = csv.DictReader(io.StringIO(project.jpo("lab", "logs", "runs", "-o", "csv").out))
    assert (one["runs"], one["by_status"]["succeeded"], one["duration_seconds"]["median"]) == (7, 7, 70.0)
    assert one["best"]["time"]["parameters"]["batch_size"] == 64
    assert (row["runs"], row["duration_seconds.median"], row["best.time.parameters.batch_size"]) == ("7", "70.0", "64.0")
    assert (one["best"]["time"]["parameters"]["gpus"], row["best.time.parameters.gpus"]) == (None, "")


def test_without_arguments_the_logs_of_the_settings_are_read(project):
    assert project.jpo("lab", "logs").out == project.jpo("lab", "logs", "runs/*.csv").out


def test_what_cannot_be_used_is_listed_and_the_rest_counts(project):
    (project.folder / "runs" / "bad.csv").write_text("nonsense\n")
    (project.folder / "runs" / "empty.csv").touch()
    os.mkfifo(project.folder / "runs" / "pipe.csv")
    answer = project.jpo("lab", "logs", "runs")
    assert "7 runs: 7 succeeded" in answer.out
    assert "3 logs not usable:" in answer.out
    told = {one["file"]: one["code"] for one in json.loads(project.jpo("lab", "logs", "runs", "-o", "json").out)["not_usable"]}
    assert told == {"runs/bad.csv": "JPO-E110", "runs/empty.csv": "JPO-E111", "runs/pipe.csv": "JPO-E110"}


def test_runs_of_several_workloads_stand_apart_and_markup_is_text(project):
    other = project.log(8, 32, 5.0)
    other.write_text(other.read_text().replace("model=cnn", "model=[red]mlp[/]"))
    out = project.jpo("lab", "logs", "runs").out
    assert "Workload digits/[red]mlp[/]/pytorch\n  1 run: 1 succeeded" in out
    assert "Workload digits/cnn/pytorch\n  7 runs: 7 succeeded" in out


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [(["leer"], 2, "JPO-E133"), (["missing"], 4, "JPO-E134"), (["missing/*.csv", "leer"], 4, "JPO-E134")],
)
def test_no_log_at_all_is_an_error(project, arguments, code, reason):
    (project.folder / "leer").mkdir()
    answer = project.jpo("lab", "logs", *arguments)
    assert (answer.code, answer.out, reason in answer.err) == (code, "", True)


def test_the_extended_table_begins_as_the_history_does(project):
    project.jpo("observe", *[word for n in range(7) for word in ("--csv", f"runs/run-{n}.csv")])
    recorded = list(csv.DictReader(io.StringIO(project.jpo("history", "--format", "csv").out)))
    rows = table(project)
    assert len(recorded) == 7
    for row in recorded:
        assert {name: rows[row["run_id"]][name] for name in row} == row


def test_rewards_are_log_ratios_to_the_first_good_run_and_the_best_until_then_has_none(project):
    project.log(7, 64, 10.0, status="failed")
    rows = table(project)
    assert [rows["run-0"][name] for name in ("reward_time", "reward_cost", "reward_loss", "reward")] == ["0.0"] * 4
    assert float(rows["run-2"]["reward_time"]) == pytest.approx(math.log(40 / 100))
    assert float(rows["run-2"]["reward"]) == 0
    assert float(rows["run-1"]["reward"]) == pytest.approx(-0.04)
    assert float(rows["run-7"]["reward_time"]) == pytest.approx(math.log(2 * 40 / 100)), "a failed run costs two of the best"
    assert float(rows["run-7"]["reward"]) == pytest.approx(-1)
    assert rows["run-0"]["reward_efficiency"] == "", "no utilisation was measured"


def test_sla_targets_are_compared_with_what_was_measured(with_targets):
    with_targets.log(7, 64, 80.0, status="stopped")
    with_targets.log(8, 64, 10.0, status="failed")
    rows = table(with_targets)
    told = {run: [rows[run][f"sla_{name}"] for name in ("time_max", "cost_max", "val_loss_max", "gpu_util_min")] for run in rows}
    assert told["run-0"] == ["broken", "broken", "broken", "unknown"]
    assert told["run-2"] == ["ok", "ok", "broken", "unknown"]
    assert told["run-7"] == ["broken", "broken", "unknown", "unknown"], "what only grows was broken already"
    assert told["run-8"] == ["unknown"] * 4
    assert rows["run-0"]["sla_throughput_min"] == "", "nothing was promised"


def test_the_suggestion_that_a_run_followed_is_next_to_it(project):
    suggested = json.loads(project.jpo("suggest", "config.ini", "--set", "batch_size=64", "--no-learn", "-o", "json").out)
    log = project.log_now(64, 40.0)
    project.jpo("observe", "--csv", str(log))
    rows = table(project)
    assert rows["run-now"]["suggestion_id"] == suggested["suggestion_id"]
    assert (rows["run-now"]["suggested_batch_size"], rows["run-0"]["suggested_batch_size"]) == ("64.0", "")


def test_who_decided_under_which_preference_and_with_which_compliance(project):
    """In the CSV of the history as in the extended one; the columns that were there keep their places."""
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[sla]\ntime_max = "60s"\n')
    given = ("--set", "batch_size=64", "--no-learn", "--prefer", "time", "-o", "json")
    answer = project.jpo("suggest", "config.ini", *given)
    assert answer.code == 0, answer.err
    made = json.loads(answer.out)
    project.jpo("observe", "--csv", str(project.log_now(64, 40.0)))
    rows = table(project, "--epochs", "epochs.csv")
    assert [rows["run-now"][name] for name in DECISION] == ["user", "time=1", "ok", "return"]
    assert [rows["run-0"][name] for name in DECISION] == ["", "", "broken", ""]
    recorded = {row["run_id"]: row for row in csv.DictReader(io.StringIO(project.jpo("history", "-o", "csv").out))}
    assert [recorded["run-now"][name] for name in DECISION] == ["user", "time=1", "ok", "return"]
    assert list(recorded["run-now"])[-4:] == list(rows["run-now"])[-4:] == list(DECISION)
    epochs = list(csv.DictReader(io.StringIO((project.folder / "epochs.csv").read_text())))
    assert [row["run_id"] for row in epochs].count("run-0") == 1
    (now,) = (row for row in epochs if row["run_id"] == "run-now")
    names = ("epoch", "val_loss", "batch_size", "suggestion_id", "decided_by", "old_batch_size", "new_batch_size", "old_gpus")
    assert [now[name] for name in names] == ["1.0", "0.1", "64.0", made["suggestion_id"], "user", "16.0", "64.0", ""]
    expected = made["forecast"]["duration_seconds"]["next"]
    assert [float(now[f"expected_duration_seconds{end}"]) for end in ("", "_low", "_high")] == [
        pytest.approx(expected[end]) for end in ("mean", "low", "high")
    ]


def test_without_targets_and_suggestions_the_columns_are_empty(project):
    rows = table(project)
    assert {tuple(row[name] for name in DECISION) for row in rows.values()} == {("", "", "", "")}


def test_the_epochs_of_a_long_log_are_all_there(project):
    log = project.log(0, 16, 100.0)
    log.write_text(
        log.read_text().replace("1700000100.0,1,1500,0.2,0.1\n", "1700000050.0,1,700,,nan\n1700000100.0,2,1500,0.2,0.1\n")
    )
    assert project.jpo("lab", "logs", "runs", "--epochs", "epochs.csv").code == 0
    rows = [row for row in csv.reader(io.StringIO((project.folder / "epochs.csv").read_text())) if row[0] == "run-0"]
    assert [row[7:12] for row in rows] == [
        ["1700000050.0", "1.0", "700.0", "", "nan"],
        ["1700000100.0", "2.0", "1500.0", "0.2", "0.1"],
    ]


def test_two_tables_are_two_files_of_their_kinds(project):
    for arguments in (
        ["--extended", "a.csv", "--epochs", "./a.csv"],
        ["--epochs", "runs/run-0.csv"],
        ["--epochs", "runs/all.csv"],
    ):
        assert project.jpo("lab", "logs", "runs", *arguments).code == 2
    assert project.jpo("lab", "logs", "runs", "--epochs", "epochs.csv").code == 0
    assert project.jpo("lab", "logs", "runs", "--epochs", "epochs.csv").code == 0
    assert "JPO-E132" in project.jpo("lab", "logs", "runs", "--extended", "epochs.csv").err


def test_texts_that_are_formulas_are_made_harmless(project):
    log = project.log(7, 64, 10.0)
    log.write_text(log.read_text().replace("run-7", "=1+1").replace("dataset=digits", "dataset=@SUM(A1)"))
    rows = table(project)
    assert rows["'=1+1"]["dataset"] == "'@SUM(A1)"
    assert "'@SUM(A1)" in project.jpo("lab", "logs", "runs", "-o", "csv").out


@pytest.mark.parametrize("name", ["runs/all.csv", "runs/run-0.csv", "jpo.toml", "config.ini", "link", "nowhere/all.csv", "runs"])
def test_the_extended_table_replaces_nothing_but_itself(project, name):
    (project.folder / "link").symlink_to("runs/run-0.csv")
    before = snapshot(project)
    answer = project.jpo("lab", "logs", "runs", "--extended", name)
    assert (answer.code, answer.out) == (2, "")
    assert "JPO-E132" in answer.err or "JPO-E307" in answer.err
    assert snapshot(project) == before


def test_repeated_it_replaces_its_own_table(project):
    table(project)
    project.log(7, 64, 10.0)
    (project.folder / "all.csv").chmod(0o640)
    assert "run-7" in table(project)
    assert (project.folder / "all.csv").stat().st_mode & 0o777 == 0o640
    assert not [path.name for path in project.folder.iterdir() if path.name.startswith(".jpo-new-")]


def test_workloads_with_similar_names_stay_apart(project):
    for number, (dataset, model) in enumerate([("a/b", "c"), ("a", "b/c"), ("a/b", "c"), ("a", "b/c")]):
        log = project.log(20 + number, 64, 10.0 + number)
        log.write_text(log.read_text().replace("dataset=digits", f"dataset={dataset}").replace("model=cnn", f"model={model}"))
    rows = table(project)
    assert [rows[f"run-{n}"]["reward_time"] == "0.0" for n in (20, 21, 22, 23)] == [True, True, False, False]


def test_absurd_numbers_do_not_end_it(project):
    for number in (20, 21):
        log = project.log(number, 64, 1e-3)
        log.write_text(log.read_text().replace(",1,1500,", ",1,1e308,").replace("cpus=2", "cpus=1e308"))
    for form in ("table", "csv", "json", "markdown"):
        assert project.jpo("lab", "logs", "runs", "-o", form).code == 0
    assert "Infinity" not in project.jpo("lab", "logs", "runs", "-o", "json").out
    table(project)


def test_a_workload_whose_runs_all_ended_badly_is_shown_all_the_same(empty):
    empty.log(1, 64, 10.0, status="failed")
    answer = empty.jpo("lab", "logs", "runs")
    assert "Workload digits/cnn/pytorch\n  1 run: 1 failed" in answer.out
