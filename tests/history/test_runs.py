from dataclasses import replace

import pytest

from jpo.history.runs import RecordedRun, additions, follows, fuller, key_of, latest_start
from jpo.records import Change, Evidence, Forecast, Guarded, Identity, Outcome, Preference, Run, RunStatus, suggestion_from

DIGITS = Identity("digits", "cnn", "pytorch")
RUN = Run("r1", DIGITS, {"batch_size": 64.0}, RunStatus.SUCCEEDED, None, 200.0, Outcome(duration_seconds=50.0), "csv")
SUGGESTION = suggestion_from(
    suggestion_id="s1",
    identity=DIGITS,
    status="changed",
    keys={"batch_size": "training.batch_size"},
    current={"batch_size": 32.0, "memory_gib": 1.5},
    suggested={"batch_size": 64.0, "memory_gib": 1.5},
    changes=(Change("batch_size", "training.batch_size", 32, 64, "32", "64", "", None),),
    now=Forecast(),
    next=Forecast(),
    guard=Guarded(True),
    evidence=Evidence(0),
    decided_by="belief",
    confidence=None,
    reasons=(),
    created_at=100.0,
    preference=Preference(),
    seed=1,
)


def test_a_fuller_report_adds_start_parameters_and_outcome() -> None:
    later = replace(RUN, started_at=150.0, parameters={"epochs": 3.0}, outcome=Outcome(val_loss=0.5, converged=False))
    merged = fuller(RUN, later)
    assert merged.started_at == 150.0
    assert merged.parameters == {"batch_size": 64.0, "epochs": 3.0}
    assert merged.outcome == Outcome(duration_seconds=50.0, val_loss=0.5, converged=False)


def test_a_later_report_flips_nothing_known() -> None:
    later = Run("r1", DIGITS, {"batch_size": 1.0}, RunStatus.FAILED, None, 900.0, Outcome(duration_seconds=1.0), "prometheus")
    assert fuller(RUN, later) == RUN


def test_a_value_that_was_assumed_gives_way_to_the_one_that_is_reported() -> None:
    assumed = replace(RUN, parameters={"batch_size": 64.0, "epochs": 3.0}, assumed=("batch_size", "epochs"))
    later = fuller(assumed, replace(RUN, parameters={"batch_size": 32.0}))
    assert (later.parameters, later.assumed) == ({"batch_size": 32.0, "epochs": 3.0}, ("epochs",))
    assert fuller(later, assumed) == later, "and what is reported stays"


def test_what_fell_silent_keeps_what_it_reported_before_what_is_assumed_later() -> None:
    silent = replace(RUN, fell_silent=True)
    later = replace(RUN, parameters={"batch_size": 32.0, "epochs": 3.0}, assumed=("batch_size", "epochs"), ended_at=300.0)
    told = fuller(silent, later)
    assert (told.ended_at, told.parameters, told.assumed) == (300.0, {"batch_size": 64.0, "epochs": 3.0}, ("epochs",))


def test_a_start_after_the_known_end_is_not_believed() -> None:
    assert fuller(RUN, replace(RUN, started_at=201.0, ended_at=300.0)).started_at is None


def test_without_a_start_the_duration_gives_it_and_else_the_end() -> None:
    assert latest_start(replace(RUN, started_at=120.0)) == 120.0
    assert latest_start(RUN) == 150.0
    assert latest_start(replace(RUN, outcome=Outcome())) == 200.0


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"batch_size": 64.0, "memory_gib": 1.5}, True),
        ({"batch_size": 64.0}, True),
        ({"batch_size": 64.0, "memory_gib": 1.5000001}, True),  # bytes and back
        ({"batch_size": 64.0, "epochs": 7.0}, True),  # not part of the suggestion
        ({"batch_size": 64.0, "memory_gib": 1.6}, False),
        ({"memory_gib": 1.5}, False),  # does not say what was changed
        ({}, False),
    ],
)
def test_a_run_follows_a_suggestion_when_it_ran_with_it(parameters: dict[str, float], expected: bool) -> None:
    assert follows(replace(RUN, parameters=parameters), SUGGESTION) is expected


def test_a_run_that_reports_nothing_follows_not_even_a_kept_suggestion() -> None:
    assert not follows(replace(RUN, parameters={}), replace(SUGGESTION, status="kept", changes=()))


def test_only_what_is_new_or_adds_something_is_added_and_each_report_counts() -> None:
    known = {key_of(RUN): RecordedRun(RUN, "s1", 5.0)}
    again, more = replace(RUN, status=RunStatus.FAILED), replace(RUN, parameters={"cpus": 2.0})
    new = replace(RUN, run_id="r2")
    added = additions([again, more, more, new, new], known, lambda run: f"behind {run.run_id}", 9.0)
    assert added == [
        RecordedRun(replace(RUN, parameters={"cpus": 2.0, "batch_size": 64.0}), "s1", 5.0),
        RecordedRun(new, "behind r2", 9.0),
    ]
