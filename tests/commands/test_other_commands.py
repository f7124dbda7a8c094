from __future__ import annotations

import csv
import json
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from jpo.agent.policy import load_policy, save_policy
from jpo.history import open_store

if TYPE_CHECKING:
    from conftest import Project


def test_observe_a_log_twice_records_it_once(empty: Project) -> None:
    log = str(empty.log(1, 16, 100.0))
    assert "recorded run-1: digits/cnn/pytorch, succeeded" in empty.jpo("observe", "--csv", log).out
    assert "nothing new" in empty.jpo("observe", "--csv", log).out


def test_observe_without_arguments_reads_the_configured_logs(project: Project) -> None:
    assert project.jpo("observe").out.count("recorded run-") == 7


def test_observe_by_hand_takes_the_values_of_config_ini(empty: Project) -> None:
    assert empty.jpo("observe", "r1", "--metric", "duration_seconds=60", "--metric", "val_loss=0.3").code == 0
    (run,) = json.loads(empty.jpo("history", "--format", "json").out)["runs"]
    assert run["parameters"]["batch_size"] == 16
    assert (run["outcome"]["duration_seconds"], run["outcome"]["val_loss"], run["outcome"]["cost_usd"]) == (60, 0.3, None)


def test_observe_refuses_what_is_no_metric_or_no_number(empty: Project) -> None:
    for metric, message in (
        ("speed=3", "speed is not a metric"),
        ("val_loss=x", "is not a number"),
        ("duration_seconds=-1", "negative"),
    ):
        answer = empty.jpo("observe", "r1", "--metric", metric)
        assert answer.code == 2
        assert message in answer.err


def test_observe_names_a_log_that_cannot_be_read(empty: Project) -> None:
    answer = empty.jpo("observe", "--csv", "gone.csv")
    assert answer.code == 4
    assert "gone.csv" in answer.err


def test_check_tells_what_it_understood(project: Project) -> None:
    out = project.jpo("check", "config.ini").out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "config.ini: workload digits/cnn/pytorch"
    assert "7 training.batch_size 16 batch_size 16" in lines
    assert "9 training.epochs 40 epochs 40, frozen in jpo.toml" in lines


def test_check_names_a_limit_that_is_broken_today(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("learning_rate = 0.01", "learning_rate = 0.5"))
    answer = project.jpo("check", "config.ini")
    assert answer.code == 3
    assert "learning_rate = 0.5 is above 0.1" in answer.err


def test_explain_retells_the_newest_suggestion_and_what_came_of_it(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    project.jpo("observe", "--csv", str(project.log_now(64, 41.0)))
    out = project.jpo("explain").out
    assert "guard: approved" in out
    assert "followed by 1 run" in out
    assert any(line.split()[:3] == ["run-now:", "succeeded", "duration"] and "41s" in line for line in out.splitlines())


def test_explain_of_nothing_says_what_to_do(empty: Project) -> None:
    answer = empty.jpo("explain")
    assert answer.code == 2
    assert "run `jpo suggest config.ini` first" in answer.err


def test_history_as_table_json_and_csv_agree(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    runs = json.loads(project.jpo("history", "--format", "json").out)["runs"]
    rows = list(csv.DictReader(StringIO(project.jpo("history", "--format", "csv").out)))
    assert [row["run_id"] for row in rows] == [run["run_id"] for run in runs] == [f"run-{n}" for n in range(7)]
    table = project.jpo("history").out
    assert all(f"run-{n} " in table for n in range(7))
    assert "batch 16 → 64" in table


def test_history_limit_keeps_the_newest(project: Project) -> None:
    project.jpo("observe")
    runs = json.loads(project.jpo("history", "--format", "json", "--limit", "2").out)["runs"]
    assert [run["run_id"] for run in runs] == ["run-5", "run-6"]


def test_audit_tells_intention_before_deed_and_verifies(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    assert kinds == ["observed"] * 7 + ["suggested", "written"]
    assert "9 records, chain intact" in project.jpo("audit", "verify").out


def test_audit_verify_does_not_approve_a_log_that_is_gone(empty: Project) -> None:
    answer = empty.jpo("audit", "verify")
    assert answer.code == 5
    assert "holds no audit log" in answer.err


def test_audit_verify_misses_a_head_that_was_noted(project: Project) -> None:
    project.jpo("observe")
    answer = project.jpo("audit", "verify", "--head", "ab" * 32)
    assert answer.code == 5
    assert "records are missing at its end, or it was rewritten" in answer.err


def test_learn_takes_in_new_runs_once_and_rebuilding_gives_the_same_agent(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jpo.learning.release.RELEASE_JOBS", 18)
    project.jpo("observe")
    first = project.jpo("learn", "config.ini", "--budget", "60s").out
    assert "6 runs learnt, 6 altogether, 48 updates" in first
    assert "0 runs learnt, 6 altogether, 48 updates" in project.jpo("learn", "config.ini").out
    assert "6 runs learnt, 6 altogether, 48 updates" in project.jpo("learn", "config.ini", "--rebuild", "--budget", "60s").out
    kinds = [json.loads(line)["kind"] for line in project.jpo("audit", "show", "-o", "json").out.splitlines()]
    assert kinds.count("learnt") == 2, "learnt, and learnt anew; in between there was nothing to learn"
    assert kinds.count("tested") == 1, "the rebuilt agent is the one that was tested"


def test_learn_without_a_run_says_where_runs_come_from(empty: Project) -> None:
    assert "`jpo observe` puts them there" in empty.jpo("learn", "config.ini").out


def test_learn_begins_anew_when_a_run_is_reported_late(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.learning.release.RELEASE_JOBS", 18)
    project.jpo("observe")
    project.jpo("learn", "config.ini", "--budget", "60s")
    late = project.log(1, 32, 71.0, start=1_700_000_500, name="late")
    project.jpo("observe", "--csv", str(late))
    assert "7 runs learnt, 7 altogether, 56 updates" in project.jpo("learn", "config.ini", "--budget", "60s").out


def test_a_policy_that_passed_its_release_test_decides(project: Project) -> None:
    with open_store("sqlite:///.jpo/jpo.db") as store:
        own = save_policy(load_policy().weights, released=("on",), card={"updates": 0})
        store.save_agent("policy digits/cnn/pytorch", own, expected_version=0)
    deciders = {
        explore: json.loads(project.jpo("suggest", "config.ini", "--dry-run", "-o", "json", "--explore", explore).out)[
            "decided_by"
        ]
        for explore in ("on", "off")
    }
    assert deciders == {"on": "sac", "off": "belief"}


def test_help_of_every_command_has_a_text_and_an_example(empty: Project) -> None:
    for command in ("suggest", "observe", "learn", "check", "explain", "history"):
        out = empty.jpo(command, "--help").out
        assert f"jpo {command}" in out.split("Options:")[0].replace(f"Usage: jpo {command}", "")
