from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import a_run

from jpo.records import (
    VAL_ACCURACY,
    VAL_LOSS,
    Forecast,
    Interval,
    Outcome,
    Quality,
    each_judged,
    own_quality,
    quality_measured,
)

F1 = Quality("f1", more_is_better=True, best=1.0)
BLEU = Quality("bleu", more_is_better=True)
WER = Quality("wer")


@pytest.mark.parametrize(
    ("quality", "value", "error"),
    [
        (VAL_LOSS, 0.4, 0.4),
        (VAL_LOSS, -1.5, -1.5),
        (VAL_ACCURACY, 0.93, 0.07),
        (VAL_ACCURACY, 1.0, 1e-4),
        (VAL_ACCURACY, 0.0, 1.0),
        (F1, 1.2, 1e-4),
        (BLEU, 25.0, 0.04),
        (BLEU, 0.0, None),
        (WER, 0.2, 0.2),
        (WER, 0.0, None),
        (VAL_ACCURACY, None, None),
    ],
)
def test_what_is_measured_becomes_an_error_of_which_less_is_better(
    quality: Quality, value: float | None, error: float | None
) -> None:
    assert quality.error_of(value) == (None if error is None else pytest.approx(error))


@given(st.sampled_from([VAL_LOSS, VAL_ACCURACY, F1, BLEU, WER]), st.floats(1e-3, 0.999))
def test_an_error_means_the_value_that_it_came_from(quality: Quality, value: float) -> None:
    error = quality.error_of(value)
    assert error is not None
    assert quality.value_of(error) == pytest.approx(value)
    assert error > 0


def test_a_forecast_of_the_error_is_one_of_the_value_with_its_ends_in_order() -> None:
    made = VAL_ACCURACY.forecast(Forecast(), Interval(0.07, 0.05, 0.1))
    assert made.val_loss is None
    assert made.val_accuracy is not None
    assert (made.val_accuracy.mean, made.val_accuracy.low, made.val_accuracy.high) == pytest.approx((0.93, 0.9, 0.95))
    assert F1.forecast(Forecast(), Interval(0.25, 0.125, 0.5)).metrics == {"f1": Interval(0.75, 0.5, 0.875)}
    assert VAL_LOSS.forecast(Forecast(), Interval(0.2, 0.1, 0.3)) == Forecast(val_loss=Interval(0.2, 0.1, 0.3))


def test_a_metric_without_a_known_best_is_one_of_ratios() -> None:
    runs = [a_run(outcome=Outcome(metrics={"bleu": 24.0})), a_run(outcome=Outcome(metrics={"f1": 0.8}))]
    assert own_quality("bleu", "max", None, runs) == BLEU
    assert own_quality("bleu", "max", 100.0, runs) == replace(BLEU, best=100.0)
    assert own_quality("f1", "max", None, runs) == F1
    assert own_quality("wer", "min", None, runs) == WER


@pytest.mark.parametrize(
    ("direction", "values", "errors"),
    [
        ("max", [-120.0, -150.0], [120.0, 150.0]),  # a log-likelihood: the loss with its sign turned
        ("max", [300.0, -200.0, 100.0], [200.0, 700.0, 400.0]),  # a reward
        ("min", [-0.5, 0.5, -0.25], [0.5, 1.5, 0.75]),
        ("min", [-120.0, -150.0, -130.0], [160.0, 130.0, 150.0]),
        ("min", [0.0, 0.1, 0.3], [0.1, 0.2, 0.4]),  # a rate of errors: no error is the best, and no run without a value
        ("min", [0.0, 0.0], [1.0, 1.0]),
    ],
)
def test_a_metric_that_is_zero_or_below_has_errors_all_the_same(
    direction: Literal["max", "min"], values: list[float], errors: list[float]
) -> None:
    runs = [a_run(outcome=Outcome(metrics={"score": value})) for value in values]
    quality = own_quality("score", direction, None, runs)
    assert [quality.error_of(value) for value in values] == pytest.approx(errors)
    assert [quality.value_of(error) for error in errors] == pytest.approx(values)
    worst, best = max(errors), min(errors)
    made = quality.forecast(Forecast(), Interval(best, best, worst)).metrics["score"]
    assert made.low <= made.mean <= made.high


def test_a_perfect_value_of_zero_has_a_logarithm() -> None:
    runs = [a_run(outcome=Outcome(metrics={"reward": value})) for value in (0.0, -3e-5)]
    error = own_quality("reward", "max", 0.0, runs).error_of(0.0)
    assert error is not None
    assert 0 < error < 3e-7


def test_the_best_of_one_workload_is_not_that_of_another() -> None:
    here, there = a_run(outcome=Outcome(metrics={"reward": 5.0})), a_run(outcome=Outcome(metrics={"reward": -40.0}))
    there = replace(there, identity=replace(there.identity, model="other"))
    quality = own_quality("reward", "max", None, [here])
    judged = each_judged([here, there], (VAL_LOSS, VAL_ACCURACY, quality))
    assert [run.outcome.val_loss for run in judged] == [0.2, 40.0]


def test_runs_are_judged_by_the_first_quality_that_most_of_the_newest_have() -> None:
    both = a_run(outcome=Outcome(val_loss=0.4, val_accuracy=0.9))
    loss, accuracy = a_run(outcome=Outcome(val_loss=0.4)), a_run(outcome=Outcome(val_accuracy=0.9))
    assert quality_measured([]) == VAL_LOSS
    assert quality_measured([both, accuracy, loss]) == VAL_LOSS
    assert quality_measured([accuracy]) == VAL_ACCURACY
    assert quality_measured([loss] * 30 + [accuracy] * 10) == VAL_ACCURACY, "nobody measures the loss any more"
    f1 = a_run(outcome=Outcome(metrics={"f1": 0.8}))
    assert quality_measured([f1], (VAL_LOSS, VAL_ACCURACY, F1)) == F1


def test_a_loss_without_a_logarithm_judges_nothing_where_something_else_does() -> None:
    density = a_run(outcome=Outcome(val_loss=-3.0, val_accuracy=0.9))
    assert quality_measured([density]) == VAL_ACCURACY
    assert quality_measured([a_run(outcome=Outcome(val_loss=-3.0))]) == VAL_LOSS


def test_judged_runs_never_mix_units() -> None:
    loss, accuracy = (
        a_run(outcome=Outcome(val_loss=0.4, loss_slope=-0.2)),
        a_run(outcome=Outcome(val_accuracy=0.9, loss_slope=-0.3)),
    )
    of_loss, of_accuracy = VAL_ACCURACY.judged([loss, accuracy])
    assert of_loss.outcome.val_loss is None
    assert of_loss.outcome.loss_slope is None
    assert of_accuracy.outcome.val_loss == pytest.approx(0.1)
    assert of_accuracy.outcome.loss_slope == -0.3, "it is that of the accuracy"
    assert VAL_ACCURACY.judged([of_accuracy]) == [of_accuracy], "twice is once"
    assert VAL_LOSS.judged([loss, accuracy]) == [loss, accuracy]


def test_each_workload_is_judged_by_what_it_measures() -> None:
    one, other = a_run(outcome=Outcome(val_loss=0.4)), a_run(outcome=Outcome(val_accuracy=0.9))
    other = replace(other, identity=replace(other.identity, model="other"))
    assert [run.outcome.val_loss for run in each_judged([one, other, one])] == [0.4, pytest.approx(0.1), 0.4]
