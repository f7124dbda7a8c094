"""All new runs of a scope, measured at once."""

from __future__ import annotations

import pytest

from jpo.errors import TelemetryError
from jpo.telemetry.outcome import MeasuredValues
from jpo.telemetry.prometheus.discovery import RunBounds
from jpo.telemetry.prometheus.measuring import NewRuns, new_runs

R = {"run_id": "r"}
OVER = {
    "run": [(R, 1.0)],
    "start": [(R, 100.0)],
    "end": [(R, 900.0)],
    "info": [({**R, "batch_size": "64"}, 1.0)],
    "ending": [({**R, "status": "succeeded"}, 1.0)],
    "samples": [(R, 640.0)],
}


def test_nothing_new_takes_one_request(scope_on):
    scope = scope_on()
    assert new_runs(scope) == NewRuns()
    assert len(scope.client.asked) == 1


def test_a_run_without_pods_is_measured_by_what_it_reports(scope_on):
    scope = scope_on(OVER)
    found = new_runs(scope)
    (measured,) = found.runs
    assert (measured.parameters, measured.statuses, measured.closed) == ({"batch_size": "64"}, {"succeeded"}, True)
    assert measured.values == MeasuredValues(samples=640.0)
    assert (measured.started_at, measured.ended_at) == (100.0, 900.0)
    assert found.over == (RunBounds(100.0, 900.0, closed=True),)
    assert len(scope.client.asked) == 3, "discovery, descriptions, values"


def test_the_number_of_requests_does_not_grow_with_the_runs(scope_on):
    scope = scope_on(
        {key: [({**labels, "run_id": f"r{n}"}, value) for n in range(5) for labels, value in rows] for key, rows in OVER.items()}
    )
    assert len(new_runs(scope).runs) == 5
    assert len(scope.client.asked) == 3


def test_runs_without_what_they_ran_with_are_no_answer(scope_on):
    with pytest.raises(TelemetryError, match="without what they ran with") as caught:
        new_runs(scope_on({**OVER, "info": []}))
    assert caught.value.code == "JPO-E104"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"end": [(R, 10_001.0)]}, "jpo_run_end_time_seconds is in the future; it must be unix seconds of a correct clock"),
        ({"end": [(R, 1.7e12)]}, "jpo_run_end_time_seconds is in milliseconds (1700000000000); it must be unix seconds"),
        ({"start": [(R, 1.7e15)]}, "jpo_run_start_time_seconds is in microseconds (1700000000000000); it must be unix seconds"),
        ({"start": [(R, -5.0)]}, "it started before the window, so its values would be partial"),
        ({"start": [(R, 901.0)]}, "it ends before it starts (901.0 to 900.0)"),
        (
            {"info": [({**R, "batch_size": text}, 1.0) for text in ("32", "64")]},
            (
                "it reports 2 different configurations; a run id must belong to one run: "
                "batch_size is '32' and '64', in the middle of it or in another of its pods"
            ),
        ),
    ],
)
def test_a_run_that_cannot_be_used_is_skipped_with_the_reason(scope_on, changes, reason):
    found = new_runs(scope_on({**OVER, **changes}))
    assert (found.runs, [skipped.reason for skipped in found.skipped]) == ((), [reason])


def test_series_of_one_run_that_agree_are_taken_together(scope_on):
    """A pair of servers, a rank that says less, and one that writes its numbers in another way."""
    said = [{"batch_size": "64", "learning_rate": "0.001"}, {"batch_size": "64.0"}, {"learning_rate": "1e-3", "replica": "b"}]
    (measured,) = new_runs(scope_on({**OVER, "info": [({**R, **labels}, 1.0) for labels in said]})).runs
    assert {name: float(text) for name, text in measured.parameters.items()} == {"batch_size": 64, "learning_rate": 0.001}
