from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jpo.forecast.evidence.stopped import MOST_EPOCHS, beyond, log_epochs_in_all, samples_needed
from jpo.forecast.measurements import CandidateRun
from jpo.records import Identity, Outcome, Run, RunStatus


def ran(status: RunStatus = RunStatus.SUCCEEDED, **known: float) -> CandidateRun:
    outcome = Outcome(duration_seconds=10.0, **known)
    return CandidateRun(0, Run("run", Identity("d", "m", "f"), {}, status, None, 10.0, outcome, "csv"), 1.0)


NOISE = 0.1
WELL = [ran(val_loss=0.1, loss_slope=-1.0, epochs=10.0, samples=10_000.0)] * 2


def stopped(**known: float) -> CandidateRun:
    return replace(ran(RunStatus.STOPPED, **{"converged": 0.0, **known}), row=1)


def test_at_twice_the_error_half_of_the_epochs_were_done() -> None:
    """At a slope of -1 those that reached the target were there after 5 of 10 epochs."""
    (found,) = samples_needed(WELL, [stopped(val_loss=0.2, samples=3000.0)], NOISE)
    assert found.samples == pytest.approx(3000 * 2 * math.exp(0.1 + 0.7 * math.log(2)))
    assert found.deviation == pytest.approx(0.15 + 0.75 * math.log(2))


def test_none_is_further_from_the_target_than_after_its_first_epoch() -> None:
    (found,) = samples_needed(WELL, [stopped(val_loss=100.0, samples=1000.0)], NOISE)
    assert found.samples == pytest.approx(1000 * math.exp(log_epochs_in_all(math.log(10))[0]))


def test_one_with_a_lower_error_than_at_the_target_was_about_to_reach_it() -> None:
    (found,) = samples_needed(WELL, [stopped(val_loss=0.05, samples=1000.0)], NOISE)
    assert found.samples == pytest.approx(1000 * math.exp(log_epochs_in_all(0.0)[0]))


def test_without_slopes_and_epochs_usual_ones_are_taken() -> None:
    short = [ran(val_loss=0.1, samples=1000.0)]
    near, far = samples_needed(short, [stopped(val_loss=0.2, samples=1000.0), stopped(val_loss=90.0, samples=1000.0)], NOISE)
    assert near.samples == pytest.approx(1000 * math.exp(log_epochs_in_all(2 * math.log(2))[0]))
    assert far.samples == pytest.approx(1000 * math.exp(log_epochs_in_all(math.log(MOST_EPOCHS))[0]))


@pytest.mark.parametrize("known", [{"samples": 1000.0}, {"val_loss": 0.2}, {"val_loss": 0.0, "samples": 1000.0}])
def test_of_what_was_not_measured_nothing_is_said(known: dict[str, float]) -> None:
    assert samples_needed(WELL, [stopped(**known)], NOISE) == []
    assert samples_needed(WELL, [ran(RunStatus.STOPPED, val_loss=0.2, samples=1000.0)], NOISE) == []
    assert samples_needed([ran(samples=1000.0)], [stopped(val_loss=0.2, samples=1000.0)], NOISE) == []


def test_where_equal_runs_reached_the_target_it_is_one_of_them_that_took_longer() -> None:
    """Whatever its error says: the mean of what lies beyond, of a normal distribution around theirs."""
    (found,) = samples_needed(WELL, [replace(stopped(val_loss=5.0, samples=10_000.0), row=0)], NOISE)
    assert found.samples == pytest.approx(10_000 * math.exp(NOISE * math.sqrt(2 / math.pi)))
    assert found.deviation == NOISE
    (far,) = samples_needed(WELL, [replace(stopped(samples=30_000.0), row=0)], NOISE)
    assert far.samples == pytest.approx(30_000, rel=0.02)


def test_the_mean_of_a_standard_normal_beyond_a_bound() -> None:
    assert beyond(0.0) == pytest.approx(0.7979, abs=1e-4)
    assert beyond(-9.0) == pytest.approx(0.0, abs=1e-9)
    assert beyond(50.0) == 50.0
