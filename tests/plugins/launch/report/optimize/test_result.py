"""The result of the loop, for people and for programs."""

from __future__ import annotations

import csv
import json

from jpo.cli.output import READABLE, rendered
from jpo.plugins.launch.report.optimize import result
from jpo.plugins.launch.report.optimize.record import LoopRun, LoopTotals, OptimizedJob
from jpo.plugins.launch.report.optimize.result import ending, runs_of
from jpo.records import Identity, Outcome, Run, RunStatus
from jpo.records.notes import Note

DIGITS = Identity("digits", "cnn", "pytorch")


def looped(name: str, batch: float, seconds: float, *, baseline: bool = False, converged: bool | None = None) -> LoopRun:
    outcome = Outcome(duration_seconds=seconds, val_loss=0.1, converged=converged)
    run = Run(name, DIGITS, {"batch_size": batch, "cpus": 1.0}, RunStatus.SUCCEEDED, 1e9, 1e9 + seconds, outcome, "csv")
    return LoopRun(name, "local", baseline, run, None)


def job(**changes: object) -> OptimizedJob:
    facts: dict[str, object] = {
        "config": "config.ini",
        "name": "d",
        "identity": DIGITS,
        "runs": [looped("d-b1", 64, 120, baseline=True), looped("d-1", 32, 60), LoopRun("d-2", "local", False, None, None)],
        "suggestions": {"d-1": "d-1"},
        "totals": [LoopTotals("duration_seconds", 1, 1, 60.0, 120.0, 0.5)],
        "lines": (),
        "fastest": "d-1",
        "longest_seconds": 120.0,
        "missing": 0,
    }
    return OptimizedJob(**{**facts, **changes})  # type: ignore[arg-type]


def test_people_read_runs_totals_and_what_is_missing() -> None:
    text = rendered(result, [job(missing=3, failure=Note("JPO-E786", "d: 3 runs in a row have failed"))], "text")
    assert "duration of 1 run after the baseline: 1m 00s; as many at its mean: 2m 00s (-50%)" in text
    assert "fastest" in text
    assert "3 runs of the plan not made: d: 3 runs in a row have failed" in text
    assert "cpus" not in text  # it was the same in all


def test_runs_that_brought_no_model_are_said_beside_what_all_took() -> None:
    text = rendered(result, [job(totals=[LoopTotals("duration_seconds", 10, 5, 60.0, 120.0, 0.5)])], "text")
    assert "duration of 10 runs after the baseline, of which 5 ended well: 1m 00s; as many at its mean: 2m 00s (-50%)" in text


def test_every_form_shows_it() -> None:
    for form in READABLE:
        assert "d-1" in rendered(result, [job(), job()], form)


def test_programs_read_a_list_of_jobs_with_all_runs() -> None:
    found = json.loads(rendered(result, [job()], "json"))["jobs"][0]
    assert [run["suggestion_id"] for run in found["runs"]] == [None, "d-1", None]
    assert [run["status"] for run in found["runs"]] == ["succeeded", "succeeded", None]
    assert found["totals"] == [{"quantity": "duration_seconds", "runs": 1, "well": 1, "spent": 60.0, "kept": 120.0, "ratio": 0.5}]


def test_a_table_has_a_row_per_run() -> None:
    rows = [*csv.DictReader(rendered(result, [job()], "csv").splitlines())]
    assert [(row["run_id"], row["duration_seconds"]) for row in rows] == [("d-b1", "120"), ("d-1", "60"), ("d-2", "")]


def test_nothing_is_shown_of_no_job() -> None:
    assert "Optimised" in rendered(result, [], "text")


def test_how_a_run_ended() -> None:
    assert ending(looped("a", 1, 1, converged=False)) == "target not reached"
    assert ending(LoopRun("a", "local", False, looped("a", 1, 1).run, None, last=False)) == "cut off, made again"
    assert ending(looped("a", 1, 1)) == "succeeded"


def test_parameters_that_never_changed_are_no_columns() -> None:
    headings = [column.heading for column in runs_of(job()).columns]
    assert "batch_size" in headings
    assert "cpus" not in headings
