"""Records as rows of tables, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from made import a_run, a_suggestion

from jpo.history.rows import (
    RUN_COLUMNS,
    SUGGESTION_COLUMNS,
    read_run,
    read_series,
    read_suggestion,
    run_columns,
    series_rows,
    suggestion_columns,
)
from jpo.history.runs import RecordedRun
from jpo.history.series import pack
from jpo.records import Checkout, Finished, Forecast, Identity, Interval, Outcome, Series
from jpo.records.words import Word


@pytest.mark.parametrize("converged", [None, True, False])
def test_a_run_comes_back_as_it_was(converged: bool | None) -> None:
    recorded = RecordedRun(a_run(outcome=Outcome(duration_seconds=5.0, converged=converged)), "s1", 300.0)
    row = run_columns(recorded)
    assert tuple(sorted(row)) == tuple(sorted(RUN_COLUMNS))
    as_stored = {**row, "converged": None if converged is None else int(converged)}
    assert read_run(as_stored) == recorded
    assert read_run(as_stored).run.outcome.converged is converged


def test_a_suggestion_comes_back_as_it_was() -> None:
    row = suggestion_columns(a_suggestion())
    assert tuple(row) == ("dataset", "model", "framework", "hardware", "suggestion_id", "created_at", "status", "document")
    assert set(row) == set(SUGGESTION_COLUMNS)
    assert read_suggestion(row) == a_suggestion()


def test_a_suggestion_of_an_earlier_jpo_has_no_alternatives() -> None:
    row = suggestion_columns(a_suggestion())
    document = json.loads(str(row["document"]))
    del document["alternatives"], document["would_change"]
    suggestion = read_suggestion({**row, "document": json.dumps(document)})
    assert (suggestion.prospects.alternatives, suggestion.prospects.would_change) == ((), ())


def test_a_time_series_comes_back_with_its_run() -> None:
    row = {"run_id": "r1", "quantity": "cpu_cores", "packed": pack([1.0, 2.0], [0.5, 0.7])}
    assert read_series(row) == Series("r1", "cpu_cores", (1.0, 2.0), (0.5, 0.7))


@pytest.mark.parametrize("damage", [{"status": "vanished"}, {"parameters": "{"}, {"ended_at": None}])
def test_a_damaged_row_raises(damage: dict[str, object]) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_run({**run_columns(RecordedRun(a_run(), None, 300.0)), **damage})


def test_a_suggestion_knows_its_checkout_and_one_of_an_earlier_jpo_does_not() -> None:
    made = a_suggestion(checkout=Checkout("train/config.ini", "main", {"batch_size": 16.0}))
    row = suggestion_columns(made)
    assert read_suggestion(row) == made
    document = json.loads(str(row["document"]))
    del document["checkout"]
    earlier = read_suggestion({**row, "document": json.dumps(document)})
    assert (earlier.values.checkout, earlier.committed, earlier.changes_file) == (None, None, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"assumed": ("cpus", "gpus")},
        {"fell_silent": True},
        {"identity": Identity("d", "m", "f", "a100")},
        {"outcome": Outcome(duration_seconds=5.0, metrics={"f1": 0.5})},
        {"parameters": {"batch_size": 64.0, "optimizer": Word("adam")}},
    ],
)
def test_what_only_some_runs_have_comes_back_too(changes: dict[str, Any]) -> None:
    recorded = RecordedRun(a_run(**changes), None, 300.0)
    found = read_run(run_columns(recorded))
    assert found == recorded
    assert [type(value) for value in found.run.parameters.values()] == [type(value) for value in recorded.run.parameters.values()]


def test_the_users_own_metrics_of_a_forecast_come_back() -> None:
    made = a_suggestion(now=Forecast(duration_seconds=Interval(9.0, 8.0, 10.0), metrics={"f1": Interval(0.5, 0.4, 0.6)}))
    assert read_suggestion(suggestion_columns(made)) == made


def test_a_time_series_is_of_the_one_run_of_its_id() -> None:
    series = tuple(Series(run_id, "cpu_cores", (1.0,), (0.5,)) for run_id in ("r1", "twice", "of nobody"))
    runs = (a_run(), a_run("twice"), a_run("twice", identity=Identity("d", "m", "f", "a100")))
    (row,) = series_rows(Finished(runs, series))
    assert (row["run_id"], row["quantity"], row["packed"]) == ("r1", "cpu_cores", pack((1.0,), (0.5,)))
    (row,) = series_rows(Finished((*runs[2:], runs[2]), series))
    assert (row["run_id"], row["hardware"]) == ("twice", "a100")
