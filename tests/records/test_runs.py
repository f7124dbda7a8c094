from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.records import Identity, Outcome, Run, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")


@pytest.mark.parametrize(("field", "value"), [("duration_seconds", -1.0), ("cost_usd", math.nan), ("samples", math.inf)])
def test_outcome_refuses_what_cannot_have_been_measured(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        Outcome(**{field: value})


@pytest.mark.parametrize("false", [False, 0, 0.0, np.False_])
def test_every_false_is_a_run_that_missed_its_target(false: bool) -> None:
    run = Run("r", DIGITS, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(converged=false, stopped=false), "csv")
    assert not run.ended_well
    assert run.outcome.stopped is False


@pytest.mark.parametrize("value", ["no", math.nan, 2])
def test_outcome_refuses_what_is_neither_true_nor_false(value: bool) -> None:
    with pytest.raises(ValueError, match="converged"):
        Outcome(converged=value)


def test_outcome_allows_a_negative_loss() -> None:
    assert Outcome(val_loss=-1.5).val_loss == -1.5


def test_run_cannot_end_before_it_starts() -> None:
    with pytest.raises(ValueError, match="ends before it starts"):
        Run("r", DIGITS, {}, RunStatus.SUCCEEDED, 2.0, 1.0, Outcome(), "csv")


def test_run_refuses_parameters_that_are_no_numbers_and_an_empty_id() -> None:
    with pytest.raises(ValueError, match="dropout = nan"):
        Run("r", DIGITS, {"dropout": float("nan")}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
    with pytest.raises(ValueError, match="needs an id"):
        Run("", DIGITS, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")


def test_what_a_run_does_not_report_had_the_usual_value_and_the_rest_stays() -> None:
    run = Run("r", DIGITS, {"cpus": 2.0}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
    assert run.completed({"cpus": 8.0, "gpus": 1.0}).parameters == {"cpus": 2.0, "gpus": 1.0}
