from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.records import NAMED_PREFERENCES, Identity, Outcome, Parameter, Preference, Run, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")


def test_preference_says_what_its_weights_sum_to() -> None:
    with pytest.raises(ValueError, match=r"weights sum to 1\.1; they must sum to 1"):
        Preference(time=0.7, cost=0.4)


def test_preference_refuses_negative_and_infinite_weights() -> None:
    for time in (-0.5, math.inf, math.nan):
        with pytest.raises(ValueError, match="must be in 0"):
            Preference(time=time, cost=1.5)


def test_named_preferences_put_all_weight_where_their_name_says() -> None:
    assert (NAMED_PREFERENCES["time"].time, NAMED_PREFERENCES["cost"].cost, NAMED_PREFERENCES["efficiency"].efficiency) == (
        1,
        1,
        1,
    )


def test_identity_refuses_an_empty_part() -> None:
    with pytest.raises(ValueError, match="model is empty"):
        Identity("digits", " ", "pytorch")


def test_parameter_refuses_names_it_does_not_know_and_values_that_are_not_finite() -> None:
    with pytest.raises(ValueError, match="is not a parameter"):
        Parameter("dropout", "a.dropout", 1.0, "1", 1)
    with pytest.raises(ValueError, match="not a finite number"):
        Parameter("epochs", "a.epochs", math.inf, "inf", 1)


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


def test_siblings_are_the_same_job_on_other_hardware() -> None:
    here, there, anywhere = (Identity("d", "m", "f", hardware) for hardware in ("t4", "a100", None))
    assert here.is_sibling_of(there)
    assert anywhere.is_sibling_of(here)
    assert not here.is_sibling_of(here)
    assert not here.is_sibling_of(Identity("d", "other", "f", "a100"))
    assert [anywhere.includes(there), here.includes(here), here.includes(there), here.includes(anywhere)] == [
        True,
        True,
        False,
        False,
    ]
    assert (str(here), str(anywhere)) == ("d/m/f on t4", "d/m/f")
    assert anywhere.labels == {"dataset": "d", "model": "m", "framework": "f"}
    assert here.labels == {**anywhere.labels, "hardware": "t4"}
    with pytest.raises(ValueError, match="hardware is empty"):
        Identity("d", "m", "f", " ")
