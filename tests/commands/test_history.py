"""`jpo history` (and `jpo explain`) of what a store may hold: odd names, odd times, very many runs, a password in its URL."""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Collection
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from made import a_run, a_suggestion

from jpo.commands import history
from jpo.cost import Prices
from jpo.history import open_store
from jpo.records import RISK, Finished, Forecast, Identity, Interval, Note, Outcome, Run, RunEvent, RunStatus
from jpo.report import history as report
from jpo.report.forms import text

if TYPE_CHECKING:
    from user_project import Project


def record(project: Project, *names: str, ended_at: float = 1.7e9) -> None:
    runs = (
        Run(name, Identity(name, "m", "f"), {}, RunStatus.SUCCEEDED, None, ended_at + number, Outcome(), "csv")
        for number, name in enumerate(names)
    )
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        store.record(Finished(tuple(runs)), now=2e9)


@pytest.mark.parametrize("name", ["[/b]", "[red]x", ":smile:", "run [1]"])
def test_a_name_is_shown_as_it_is(empty: Project, name: str) -> None:
    record(empty, name)
    answer = empty.jpo("history")
    assert (answer.code, answer.err) == (0, "")
    assert f"Workload {name}/m/f" in answer.out
    assert f"\n  {name} " in answer.out


def test_a_name_cannot_steer_the_terminal(empty: Project) -> None:
    record(empty, "a\x1b[31m\n\u202eb")
    out = empty.jpo("history").out
    assert not any(one in out for one in ("\x1b", "\u202e"))
    assert "Workload a [31m  b/m/f" in out


@pytest.mark.parametrize("ended_at", [1e300, -1e300, 3e11])
def test_a_time_that_no_calendar_knows_is_shown(empty: Project, ended_at: float) -> None:
    record(empty, "r1", ended_at=ended_at)
    answer = empty.jpo("history")
    assert (answer.code, f"{ended_at:g}" in answer.out) == (0, True)


def test_of_very_many_runs_the_table_has_the_newest_and_says_so(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_ROWS", 3)
    record(empty, *(f"run-{n}" for n in range(3)))
    assert "older" not in empty.jpo("history").out
    record(empty, "run-3", ended_at=1.8e9)
    out = empty.jpo("history").out
    assert ("run-0 " not in out, "run-1 " in out, "run-3 " in out) == (True, True, True)
    assert "Note: newest 3 only, older ones are left out: --limit N shows N, --format csv the newest 5,000" in out
    assert "run-0 " in empty.jpo("history", "--limit", "99999999999999999999").out
    assert len(empty.jpo("history", "--format", "csv").out.splitlines()) == 5


def test_history_of_thirty_runs_fits_into_forty_lines_of_eighty_columns(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for night in range(23):
        if night % 8 == 0:
            project.jpo("suggest", "--no-learn")
        batch = int(re.findall(r"batch_size = (\d+)", project.config.read_text())[0])
        project.log(0, batch, 40.0 + night, start=time.time() + night, name=f"street-signs-nightly-{night:02}")
    project.jpo("observe")
    lines = project.jpo("history").out.splitlines()
    assert (len(lines) <= 40, max(map(len, lines)) <= 80) == (True, True), "\n".join(lines)
    assert sum("run-street" in line for line in lines) == 10
    assert any(line.startswith("  20 older: --limit 30; hidden at 80 columns: ") for line in lines)
    whole = project.jpo("history", "--limit", "30").out
    assert all(f"run-{night} " in whole for night in range(7))
    assert len(json.loads(project.jpo("history", "-o", "json").out)["runs"]) == 30
    assert project.jpo("history", "-o", "markdown").out.count("run-street-signs-nightly-") == 23
    monkeypatch.setattr(history, "MOST_ROWS", 20)
    assert "\n  10 older, and others before them: --limit N shows N; hidden" in project.jpo("history").out


def test_nothing_is_said_of_a_run_that_is_left_out(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Collection[str]] = []

    def events_of(_settings: object, run_ids: Collection[str]) -> tuple[RunEvent, ...]:
        asked.append(run_ids)
        return ()

    monkeypatch.setattr(history, "MOST_ROWS", 3)
    monkeypatch.setattr(history, "events_of", events_of)
    record(empty, *(f"run-{n}" for n in range(4)))
    empty.jpo("history")
    assert asked == [{"run-1", "run-2", "run-3"}]


def test_the_ledger_is_the_same_for_every_limit(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    for seconds in (41.0, 500.0):
        project.jpo("observe", "--csv", str(project.log(0, 64, seconds, start=time.time() + seconds, name=f"{seconds:g}")))
    lines = [" ".join(line.split()) for line in project.jpo("history").out.splitlines()]
    row = lines.index("last forecasts runs off by (median) inside in the long run (90% interval)") + 1
    assert lines[row].startswith("duration 1 ")
    assert lines[row] in " ".join(project.jpo("history", "--limit", "1").out.split())
    documents = [json.loads(project.jpo("history", "-o", "json", *limit).out) for limit in ((), ("--limit", "1"))]
    assert documents[0]["workloads"] == documents[1]["workloads"]
    assert [one["inside"]["duration_seconds"] for one in documents[1]["suggestions"][0]["outcome"]] == [True, False]


def test_a_run_that_followed_a_suggestion_is_next_to_its_forecast(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    for name, seconds, status in (("good", 500.0, "succeeded"), ("bad", 41.0, "failed")):
        project.log(0, 64, seconds, start=time.time(), name=name, status=status)
    project.jpo("observe")
    out = project.jpo("history").out
    assert any("run-good" in line and "% outside" in line for line in out.splitlines())
    assert not any("run-bad" in line and "side" in line for line in out.splitlines())
    assert "1 of 2 runs that followed a suggestion did not end well." in " ".join(out.split())


def test_a_narrow_terminal_breaks_no_time_in_two_and_what_never_differs_has_no_column(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    project.jpo("observe", "--csv", str(project.log_now(64, 41.0)))
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db", read_only=True) as store:
        document = report.document(history.read(store, Prices(), None, {}))
    shown = text.render(document, width=80, colour=False)
    assert "run-0    succeeded    1m 40s     16       0.1  2023-11-14 22:15" in shown
    assert "The same in all runs: lr 0.01, epochs 40, cpus 2." in shown
    assert "epochs" not in shown.partition("run-0")[0]


def test_a_widened_interval_is_explained(empty: Project) -> None:
    told = "too few of the last runs ended within their forecasts: intervals and risks are widened by a factor of 1.4"
    suggestion = a_suggestion(next=Forecast(Interval(50.0, 40.0, 60.0)), reasons=(Note("JPO-W616", told), Note(RISK, "3%")))
    with open_store(f"sqlite:///{empty.folder}/.jpo/jpo.db") as store:
        store.append(suggestion, config="config.ini", source_digest="ab" * 32)
        store.record(Finished((a_run("r1", 200.0),)), now=300.0)
    out = " ".join(empty.jpo("history").out.split())
    assert "duration 1 0% 1 100% (27% to 100%)" in out
    assert f"The newest suggestion says: {told}." in out


def test_explain_does_not_show_the_password_of_the_store(empty: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_STORE__URL", postgres.new_database().replace("jpo@", "jpo:hunter2@"))
    answer = empty.jpo("explain")
    assert (answer.code, "contains no suggestion" in answer.err, "hunter2" in answer.err) == (2, True, False)


def test_explain_cannot_steer_the_terminal(project: Project) -> None:
    (project.folder / "runs" / "bad\x1b[31m.csv").write_text("rubbish")
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    out = project.jpo("explain").out
    assert ("\x1b" in out, "skipped" in out) == (False, True)


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
