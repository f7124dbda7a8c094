from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.experience import fingerprint, learnable, transitions
from jpo.outlook import Wishes
from jpo.records import Identity, Outcome, Preference, Run, RunStatus

NOW = {"batch_size": 16.0, "cpus": 2.0}
WISHES = Wishes(free=("batch_size", "cpus"), admissible=lambda _today, _proposed: True, preference=Preference(1.0, 0.0, 0.0))


def a_run(number: int, seconds: float, status: RunStatus = RunStatus.SUCCEEDED, **values: float) -> Run:
    return Run(
        f"r{number}",
        Identity("d", "m", "f"),
        {**NOW, **values},
        status,
        None,
        float(number),
        Outcome(duration_seconds=seconds),
        "csv",
    )


RUNS = [
    a_run(0, 9.0, RunStatus.FAILED),
    a_run(1, 100.0),
    a_run(2, 50.0, batch_size=64.0),
    a_run(3, 7.0, RunStatus.FAILED, batch_size=256.0),
]


def test_the_first_run_that_ended_well_is_the_reference() -> None:
    assert [run.run_id for run in learnable(RUNS)] == ["r1", "r2", "r3"]
    assert list(learnable(RUNS[:1])) == []


def test_each_later_run_is_a_transition_with_the_action_that_was_executed() -> None:
    second, failed = transitions(RUNS, WISHES, seed=0, first=0)
    assert second is not None
    assert failed is not None
    assert second.reward[0] == pytest.approx(math.log(0.5))
    assert second.best == pytest.approx(math.log(0.5))
    assert failed.reward[4] == 1
    assert np.isclose(failed.reward[0], math.log(0.5) + math.log(2)), "twice the best run before it"


def test_learning_goes_on_where_it_stopped() -> None:
    assert len(list(transitions(RUNS, WISHES, seed=0, first=1))) == 1
    assert list(transitions(RUNS, WISHES, seed=0, first=2)) == []


def test_a_run_that_says_nothing_under_the_preference_teaches_nothing() -> None:
    efficient = Wishes(free=("batch_size",), admissible=lambda _a, _b: True, preference=Preference(0.0, 0.0, 1.0))
    assert list(transitions(RUNS[:3], efficient, seed=0, first=0)) == [None]


def test_the_fingerprint_tells_other_histories_and_preferences_apart() -> None:
    same, later = fingerprint(RUNS, WISHES, 1), fingerprint([*RUNS, a_run(9, 1.0)], WISHES, 1)
    assert same == later, "what comes after does not matter"
    assert same != fingerprint([RUNS[1], a_run(1, 60.0), *RUNS[2:]], WISHES, 1)
    other = Wishes(free=("batch_size", "cpus"), admissible=lambda _a, _b: True, preference=Preference(0.0, 1.0, 0.0))
    assert same != fingerprint(RUNS, other, 1)
