"""`jpo report` through the command line: figures, forms, files, and stores on which it must not break."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from attacks import check_csv, check_markdown
from made import a_run
from reviewed import BEGAN, DAY, a_month_of, put

from jpo.__main__ import run
from jpo.history import AuditEvent, AuditRecord, open_store
from jpo.plugins.page.cli import NAMES
from jpo.plugins.page.story import repository_of
from jpo.records import Finished, Identity, Outcome, Run

JOB, OTHER = Identity("cifar10", "resnet18", "pytorch"), Identity("digits", "cnn", "pytorch")
TOML = """\
[prices]
usd_per_gpu_hour = 2.0
[sla]
time_max = "3h"
val_loss_max = 0.34
"""
CONFIG = "[workload]\ndataset = digits\nmodel = cnn\nframework = pytorch\n[training]\nbatch_size = 64\n"
STORE = ".jpo/jpo.db"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jpo.toml").write_text(TOML)
    (tmp_path / "config.ini").write_text(CONFIG)
    with open_store(f"sqlite:///{STORE}", author={"where": "github", "user": "ada", "url": "https://ci.example/1"}) as store:
        put(store, a_month_of(JOB, suggestions=15))
        put(store, a_month_of(OTHER, suggestions=5, seed=1))
        data = {"current": {"batch_size": 64.0}, "suggested": {"batch_size": 9e3}, "violations": ["above 4096"], "code": "x"}
        store.audit(AuditEvent("refused", BEGAN + 90 * DAY, JOB, data))
    return tmp_path


def answered(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capfd.readouterr()
    assert run(["report", *words]) == code
    return capfd.readouterr().out


def alter(statement: str) -> None:
    """What a person with the store's file can do."""
    with sqlite3.connect(STORE) as store:
        for (trigger,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            store.execute(f"DROP TRIGGER {trigger}")
        assert store.execute(statement).rowcount == 1
    store.close()


def test_the_report_says_of_each_workload_what_was_saved_who_decided_and_what_came(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(answered(capfd, "-o", "json"))
    first, second = found["workloads"]
    assert [one["workload"]["dataset"] for one in (first, second)] == ["cifar10", "digits"]
    assert (len(first["runs"]), len(first["suggestions"])) == (23, 15)
    time, money = first["saved"]
    assert time["saved"]["low"] < time["saved"]["mean"] < time["saved"]["high"]
    assert money["saved"]["mean"] == pytest.approx(time["saved"]["mean"] / 3600 * 2 * 2.0), "two GPUs at 2 USD"
    assert {made["result"] for made in first["suggestions"]} == {"written", "kept"}
    assert {made["asked_by"] for made in first["suggestions"]} == {"ada github"}
    assert {made["decided_by"] for made in first["suggestions"]} == {"sac", "belief"}
    followed = first["suggestions"][-1]
    assert (followed["runs"], followed["compared"]) == (1, 1)
    assert followed["actual_duration_seconds"] == first["runs"][-1]["outcome"]["duration_seconds"]
    assert found["saved"]["duration_seconds"]["mean"] == pytest.approx(
        sum(one["saved"][0]["saved"]["mean"] for one in (first, second))
    )
    assert found["audit"]["intact"]
    assert found["audit"]["notable"][-1]["kind"] == "refused"
    assert first["sla"]["compliance"]["promises"]["time_max"]["known"] == 23
    assert any(point["on_front"] for point in first["front"]["points"])


def test_savings_are_what_was_spent_next_to_what_as_many_results_took_before(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(answered(capfd, "-o", "json"))["workloads"][0]
    changed = next(made["created_at"] for made in found["suggestions"] if made["result"] == "written")
    seconds = [(entry["started_at"] < changed, entry["outcome"]["duration_seconds"]) for entry in found["runs"]]
    before, after = ([value for early, value in seconds if early is side] for side in (True, False))
    assert found["saved"][0]["saved"]["mean"] == pytest.approx(len(after) * sum(before) / len(before) - sum(after))


def test_what_the_suggestions_saved_adds_up_to_what_was_saved_in_the_history_too(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(answered(capfd, "-o", "json"))["workloads"][0]
    beyond = [made["beyond_seconds"] for made in found["suggestions"] if made["beyond_seconds"] is not None]
    assert sum(beyond) == pytest.approx(-found["saved"][0]["saved"]["mean"])
    text = " ".join(answered(capfd).split())
    assert run(["history"]) == 0
    said = re.search(r"\d+ runs? of trials .*? against before JPO\.", text)
    assert said is not None
    assert said[0] in " ".join(capfd.readouterr().out.split())
    assert run(["history", "--limit", "3"]) == 0
    assert "of trials" not in capfd.readouterr().out, "not every run was read"


@pytest.mark.parametrize(
    ("data", "home"),
    [
        ({"by": {"repository": "team/training"}, "config": "jobs/a/config.ini"}, "team/training"),
        ({"by": {"user": "ada"}, "config": "jobs/a/config.ini"}, "jobs/a"),
        ({"config": "config.ini"}, ""),
        ({}, ""),
    ],
)
def test_a_job_is_at_home_in_its_repository_or_folder(data: dict[str, object], home: str) -> None:
    assert repository_of(AuditRecord(1, 0.0, "suggested", JOB, data, "", "")) == home


def test_one_workload_is_shown_where_its_config_ini_is_named(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answered(capfd, "config.ini", "-o", "json"))
    assert [one["workload"]["dataset"] for one in found["workloads"]] == ["digits"]
    assert found["saved"]["duration_seconds"] == found["workloads"][0]["saved"][0]["saved"]


def test_text_and_markdown_say_the_same_and_leave_out_what_nobody_reads(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, markdown = answered(capfd), answered(capfd, "-o", "markdown")
    for said in (
        "The newest 20 of 23; --html FILE shows up to 1000.",
        "23 records",
        "Time saved",
        "chain is intact",
        "Trade-off",
    ):
        assert (said in text) is (said != "23 records")
    check_markdown(markdown)
    assert "**The chain is intact**" in markdown or "The chain is intact" in markdown


def test_figures_go_to_csv_files_that_a_spreadsheet_only_shows(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    answered(capfd, "--csv", "figures")
    assert sorted(path.name for path in Path("figures").iterdir()) == sorted(NAMES)
    tables = {name: [*csv.DictReader(StringIO(Path("figures", name).read_text()))] for name in NAMES}
    assert {name: len(rows) for name, rows in tables.items()} == {
        "allocation_history.csv": 36,
        "reward_components.csv": 36,
        "sla_metrics.csv": 72,
        "pareto_front.csv": len(tables["pareto_front.csv"]),
        "performance_metrics.csv": 36,
    }
    assert all(Path("figures", name).read_text().startswith(("dataset,", "run_id,")) for name in NAMES)
    for name in NAMES:
        check_csv(Path("figures", name).read_text())
    assert {row["verdict"] for row in tables["sla_metrics.csv"]} == {"ok", "broken"}
    assert tables["allocation_history.csv"][0]["usd_per_hour"] == "4.0"
    assert float(tables["reward_components.csv"][0]["time"]) == 0.0
    answered(capfd, "--csv", "figures"), "again, over those that are there"


def test_of_the_csv_files_all_are_replaced_or_none(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("figures").mkdir()
    for name in NAMES:
        Path("figures", name).write_text("before")
    Path("figures", NAMES[-1]).unlink()
    Path("figures", NAMES[-1]).mkdir()
    answered(capfd, "--csv", "figures", code=2)
    assert {Path("figures", name).read_text() for name in NAMES[:-1]} == {"before"}
    assert len([*Path("figures").iterdir()]) == len(NAMES), "nothing temporary is left"


@pytest.mark.parametrize(
    "words",
    [
        *(("--html", "nowhere/a.html"), ("--html", "jpo.toml"), ("--html", STORE), ("--html", "."), ("--html", "config.ini")),
        *(("--csv", "jpo.toml"), ("--csv", "nowhere/a"), ("--csv", "config.ini/a"), ("none.ini",)),
    ],
)
def test_a_target_that_cannot_be_written_is_one_line_and_leaves_everything_whole(
    words: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run(["report", *words]) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_broken_chain_is_loud_in_every_form_and_an_error(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    alter("UPDATE audit SET data = replace(data, '\"sac\"', '\"user\"') WHERE number = 9")
    alter("UPDATE audit SET data = replace(data, 'succeeded', 'failed') WHERE number = 3")
    for form in ("text", "markdown"):
        assert answered(capfd, "-o", form, code=5).lstrip("> *").startswith("THE AUDIT CHAIN IS BROKEN: record 3 was changed")
    found = json.loads(answered(capfd, "-o", "json", code=5))["audit"]
    assert (found["intact"], found["records"], found["first_bad"]) == (False, 2, 3)
    answered(capfd, "--html", "report.html", code=5)
    assert '<p class="alarm" role="alert">THE AUDIT CHAIN IS BROKEN' in Path("report.html").read_text()


def test_a_table_that_says_something_else_than_the_log_is_noticed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    alter("UPDATE suggestions SET document = replace(document, '\"belief\"', '\"user\"') WHERE suggestion_id = 's-cifar10-2'")
    assert answered(capfd, code=5).startswith("THE STORE CONTRADICTS ITS AUDIT LOG: of s-cifar10-2 it")


def test_a_suggestion_of_which_the_log_says_nothing_is_noticed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    alter("UPDATE suggestions SET document = replace(document, 's-cifar10-2', 'forged') WHERE suggestion_id = 's-cifar10-2'")
    assert json.loads(answered(capfd, "-o", "json", code=5))["audit"]["contradicted"] == ["forged"]


def test_a_store_with_nothing_in_it_is_said_to_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nothing on record yet" in answered(capfd)
    answered(capfd, "--html", "report.html", "--csv", "figures")
    assert "nothing on record yet" in Path("report.html").read_text()
    assert {Path("figures", name).read_text().count("\n") for name in NAMES} == {1}
    assert not Path(".jpo").exists(), "nothing is made"


def test_runs_without_a_suggestion_have_unknown_savings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(f"sqlite:///{STORE}") as store:
        put(store, a_month_of(JOB, suggestions=0))
    found = json.loads(answered(capfd, "-o", "json"))
    assert found["saved"] == {"duration_seconds": None, "cost_usd": None}
    text = answered(capfd)
    assert "JPO changed nothing yet." in text
    assert "no change by JPO is on record yet" in text


def test_a_suggestion_without_runs_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(f"sqlite:///{STORE}") as store:
        put(store, iter([*a_month_of(JOB, suggestions=1, before=0)][:1]))
    found = json.loads(answered(capfd, "-o", "json"))
    assert (len(found["workloads"][0]["runs"]), len(found["workloads"][0]["suggestions"])) == (0, 1)
    assert "KEPT" in answered(capfd).upper()


def test_absurd_measurements_break_no_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("jpo.toml").write_text(TOML)
    absurd = [1e300, 1e-300, 0.0, 1e17, 5e14, 1.7e308]
    with open_store(f"sqlite:///{STORE}") as store:
        put(store, a_month_of(JOB, suggestions=6))
        for number, seconds in enumerate(absurd * 2):
            at = BEGAN - 3 * DAY + 6 * DAY * number
            outcome = Outcome(duration_seconds=seconds, val_loss=seconds, metrics={"f1": -seconds})
            run_ = a_run(f"absurd-{number}", at, identity=JOB, started_at=None, parameters={"gpus": seconds}, outcome=outcome)
            store.record(Finished((run_,)), now=at)
    for form in ("text", "markdown", "json"):
        assert "nan" not in answered(capfd, "-o", form)
    answered(capfd, "--html", "report.html", "--csv", "figures")
    assert "nan" not in re.sub("[a-z]nan|nan[a-z]", "", Path("report.html").read_text())


def test_teams_of_one_postgresql_get_the_same_report(
    postgres: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for url in (f"sqlite:///{STORE}", postgres.new_database()):
        with open_store(url) as store:
            put(store, a_month_of(JOB, suggestions=6))
        monkeypatch.setenv("JPO_STORE__URL", url)
        report = json.loads(answered(capfd, "-o", "json"))
        found.append({name: report[name] for name in ("workloads", "saved", "audit", "learning")})
    assert found[0] == found[1]


def test_the_command_line_stays_light() -> None:
    code = "import sys, jpo.cli.main; print(sorted({'jinja2', 'rich', 'numpy', 'jpo.plugins.page.report'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_report_and_the_comparison_have_the_same_sides_and_basis(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A job that JPO changed before its first run: both hold what came of it against the forecast."""
    new = Identity("letters", "mlp", "pytorch")
    with open_store(f"sqlite:///{STORE}") as store:
        put(store, a_month_of(new, suggestions=9, before=0))
    told = {one["workload"]["model"]: one for one in json.loads(answered(capfd, "-o", "json"))["workloads"]}
    assert run(["history", "--compare", "-o", "json"]) == 0
    compared = {one["workload"]["model"]: one for one in json.loads(capfd.readouterr().out)["workloads"]}
    assert {model: one["before_after"] for model, one in told.items()} == compared
    for model, one in told.items():
        line = compared[model]["since_first_change"][0]
        assert (one["saved"][0]["basis"], one["saved"][0]["runs_before"]) == (line["basis"], line["runs_before"])
    (time_saved, money_saved) = told["mlp"]["saved"]
    assert (time_saved["basis"], money_saved["basis"]) == ("forecast", "runs")
    assert time_saved["saved"]["low"] < time_saved["saved"]["mean"] < time_saved["saved"]["high"]
    assert money_saved["saved"] is None, "no cost was forecast"
    assert "by forecast " in answered(capfd)


def test_what_a_run_cost_is_the_same_wherever_it_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Runs that report no resources had those that config.ini gave them then."""
    quiet = Identity("words", "quiet", "pytorch")
    with open_store(f"sqlite:///{STORE}") as store:
        for entry in a_month_of(quiet, suggestions=4):
            told = (
                entry if not isinstance(entry, Run) else replace(entry, parameters={"batch_size": entry.parameters["batch_size"]})
            )
            put(store, [told])
    (one,) = (one for one in json.loads(answered(capfd, "-o", "json"))["workloads"] if one["workload"]["model"] == "quiet")
    before, after = (
        [run for run in one["runs"] if (run["started_at"] < one["first_change"]) is early] for early in (True, False)
    )
    money = one["saved"][1]
    assert money["each_before"] == pytest.approx(sum(run["cost_usd"] for run in before) / len(before))
    assert money["spent"] == pytest.approx(sum(run["cost_usd"] for run in after))


def test_forecasts_are_of_runs_that_end_well_in_the_table_as_in_the_picture(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for one in json.loads(answered(capfd, "-o", "json"))["workloads"]:
        well = {run["run_id"] for run in one["runs"] if run["status"] == "succeeded" and run["suggestion_id"]}
        assert sum(made["compared"] for made in one["suggestions"]) == len(well)


def test_what_jpo_has_not_changed_and_what_is_not_on_record_is_said_so(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with open_store("sqlite:///other.db") as store:
        put(store, a_month_of(OTHER, suggestions=0))
    Path("jpo.toml").write_text(TOML + '[store]\nurl = "sqlite:///other.db"\n')
    assert "JPO changed nothing yet." in answered(capfd)
    Path("config.ini").write_text(CONFIG.replace("cnn", "mlp"))
    assert "of this workload nothing is on record" in answered(capfd, "config.ini")
