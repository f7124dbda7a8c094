"""The history as people and programs read it."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from made import a_run, a_suggestion

from jpo.history import RecordedRun
from jpo.records import Forecast, Interval, TrackRecord
from jpo.report import history
from jpo.report.forms import html, json, markdown, text
from jpo.report.history import Compared, Follower, History, Ledger, PastRun

RUN = a_run("r|1", 200.0)
SUGGESTION = a_suggestion(next=Forecast(Interval(50.0, 40.0, 60.0)))
LEDGER = Ledger(
    (TrackRecord("duration_seconds", 2, 0.125, 1), TrackRecord("memory_gib", 1, 0.5, 0)),
    {"duration_seconds": Interval(0.5, 0.15, 0.85), "memory_gib": Interval(0.0, 0.0, 0.73)},
    followed=3,
    failed=1,
    widened="intervals are widened",
)
HISTORY = History(
    [PastRun(RecordedRun(RUN, SUGGESTION.suggestion_id, 300.0), "succeeded", Compared(0.875, inside=True))],
    [SUGGESTION],
    {SUGGESTION.suggestion_id: [Follower(RUN, {"duration_seconds": False})]},
    {RUN.identity: LEDGER},
)


def test_a_run_is_shown_next_to_its_forecast_and_the_ledger_is_below() -> None:
    lines = [" ".join(line.split()) for line in text.render(history.document(HISTORY), width=140, colour=False).split("\n")]
    assert lines[0] == f"Workload {RUN.identity}"
    assert lines[1] == "run status duration ended (UTC) forecast suggestion"
    assert lines[2].startswith("r|1 succeeded ")
    assert f"1970-01-01 00:03 -12% inside {SUGGESTION.suggestion_id}" in lines[2]
    assert "duration 2 12% 1 50% (15% to 85%)" in lines
    assert not any(line.startswith("memory") for line in lines), "JSON has it"
    assert lines[-3:-1] == [
        "1 of 3 runs that followed a suggestion did not end well.",
        "The newest suggestion says: intervals are widened.",
    ]


@pytest.mark.parametrize(
    ("compared", "shown"),
    [(None, ""), (Compared(1.2, inside=False), "+20% outside"), (Compared(1.001, inside=True), "±0% inside")],
)
def test_a_duration_against_its_forecast(compared: Compared | None, shown: str) -> None:
    assert history.against(compared) == shown


def test_markdown_and_html_escape_names() -> None:
    document = history.document(HISTORY)
    assert "| `r\\|1` | succeeded |" in markdown.render(document)
    assert "<code>r|1</code>" in html.render(document)


def test_nothing_on_record_says_how_to_begin() -> None:
    nothing = text.render(history.document(History((), (), {}, {})), width=80, colour=False)
    assert nothing == "History\n\nnothing on record yet; start with `jpo suggest config.ini`\n"


def test_json_has_every_forecast_and_what_came_of_each_suggestion() -> None:
    document = history.as_json(HISTORY)
    assert json.dumps(document)
    assert list(document) == ["schema_version", "runs", "suggestions", "workloads", "unsettled"]
    (workload,) = document["workloads"]  # type: ignore[misc]
    assert [past["quantity"] for past in workload["track_record"]] == ["duration_seconds", "memory_gib"]
    (suggestion,) = document["suggestions"]  # type: ignore[misc]
    assert suggestion["outcome"] == [{"run_id": "r|1", "status": "succeeded", "inside": {"duration_seconds": False}}]


def test_csv_has_a_row_per_run_with_its_published_columns() -> None:
    (row,) = csv.DictReader(StringIO(history.as_csv(HISTORY)))
    assert tuple(row) == (*history.HEAD, *history.DECISION)
    assert (row["run_id"], row["suggestion_id"], row["started_at"]) == ("r|1", SUGGESTION.suggestion_id, "150.0")
