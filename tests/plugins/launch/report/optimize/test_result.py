"""The result of the loop, for people and for programs."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from jpo.cli.output import READABLE, rendered
from jpo.forecast.before_after import BeforeAfter, Kind, Word
from jpo.plugins.launch.report.optimize import result
from jpo.plugins.launch.report.optimize.record import BestFound, LoopRun, LoopTotals, OptimizedJob
from jpo.plugins.launch.report.optimize.result import ending, found, runs_of
from jpo.records import Identity, Interval, Outcome, Run, RunStatus
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
        "missing": 0,
    }
    return OptimizedJob(**{**facts, **changes})  # type: ignore[arg-type]


def test_people_read_runs_totals_and_what_is_missing() -> None:
    text = rendered(result, [job(missing=3, failure=Note("JPO-E786", "d: 3 runs in a row have failed"))], "text")
    assert "duration of 1 run after the baseline: 1m 00s, for 1 model; as many with those values: 2m 00s (-50% per model)" in text
    assert "3 runs of the plan not made; run the same command again to continue" in text
    assert "in a row" not in text  # that is what the command ends with, with its code
    assert "JPO-E786" not in text
    assert "cpus" not in text  # it was the same in all


def test_where_nothing_was_to_run_that_is_said() -> None:
    assert "Nothing was run: --runs and --baseline are 0." in rendered(result, [job(runs=(), totals=())], "text")


def test_runs_that_brought_no_model_are_said_beside_what_all_took() -> None:
    text = rendered(result, [job(totals=[LoopTotals("duration_seconds", 10, 5, 60.0, 120.0, 0.5)])], "text")
    assert (
        "duration of 10 runs after the baseline: 1m 00s, for 5 models; as many with those values: 2m 00s (-50% per model)" in text
    )


def line(quantity: str, kind: Kind, change: Interval, word: Word) -> BeforeAfter:
    return BeforeAfter(quantity, kind, 1.0, 1.0, 3, 8, change, word)


LESS = line("duration_seconds", "ratio", Interval(0.57, 0.53, 0.61), "better")
WORTH = "43% less time per model (39% to 47%), same val loss"
MODELS = "1 of 2 runs produced a model"
SAME_LOSS = line("val_loss", "ratio", Interval(1.0, 0.99, 1.01), "no clear change")


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        (
            BestFound({"batch_size": 32.0}, (LESS, SAME_LOSS), 31.0, 6),
            f"Best found: batch 32: {WORTH}. {MODELS}; the search cost 31s and has paid for itself after run 6.",
        ),
        (
            BestFound({"batch_size": 32.0}, (line("duration_seconds", "ratio", Interval(1.2, 1.1, 1.3), "worse"),), -5.0, None),
            f"Best found: batch 32: 20% more time per model (10% to 30%). {MODELS}; the search cost nothing.",
        ),
        (
            BestFound(
                {"batch_size": 32.0}, (line("duration_seconds", "ratio", Interval(2.4, 0.6, 8.8), "no clear change"),), 0.0, 1
            ),
            f"Best found: batch 32: no clear change in time per model (-40% to +780%). {MODELS}; the search cost nothing.",
        ),
        (BestFound({"batch_size": 32.0}, (), None, None), f"Best found: batch 32. {MODELS}."),
        (
            BestFound({}, (LESS,), 31.0, 6),
            f"Found no better values than the first ones. {MODELS}; the search cost 31s.",
        ),
    ],
)
def test_the_loop_ends_with_a_sentence(best: BestFound, sentence: str) -> None:
    assert found(best, job()) == sentence
    document = json.loads(rendered(result, [job(best=best)], "json"))["jobs"][0]
    assert (document["best"]["values"], document["best"]["repaid_after"]) == (best.values, best.repaid_after)


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
    assert {row["stopped_by_jpo"] for row in rows} == {"False"}


def test_nothing_is_shown_of_no_job() -> None:
    assert "Optimised" in rendered(result, [], "text")


def test_how_a_run_ended() -> None:
    assert ending(looped("a", 1, 1, converged=False)) == "target not reached"
    assert ending(LoopRun("a", "local", False, looped("a", 1, 1).run, None, last=False)) == "cut off, retried"
    assert ending(looped("a", 1, 1)) == "succeeded"
    assert ending(replace(looped("a", 1, 1, converged=False), stopped=True)) == "stopped by JPO"


def test_parameters_that_never_changed_are_no_columns() -> None:
    headings = [column.heading for column in runs_of(job()).columns]
    assert "batch_size" in headings
    assert "cpus" not in headings
