from __future__ import annotations

import math

import pytest

from jpo.forecast.curves.target import EpochsAhead
from jpo.forecast.evidence.stopped import MOST_EPOCHS, samples_needed
from jpo.forecast.measurements import CandidateRun
from jpo.records import Identity, Outcome, Run, RunStatus


def ran(status: RunStatus = RunStatus.SUCCEEDED, **known: float) -> CandidateRun:
    outcome = Outcome(duration_seconds=10.0, **known)
    return CandidateRun(0, Run("run", Identity("d", "m", "f"), {}, status, None, 10.0, outcome, "csv"), 1.0)


WELL = [ran(val_loss=0.1, loss_slope=-1.0, epochs=10.0, samples=10_000.0)] * 2


def stopped(**known: float) -> CandidateRun:
    return ran(RunStatus.STOPPED, **{"converged": 0.0, **known})


def test_at_twice_the_error_half_of_the_epochs_were_done() -> None:
    """At a slope of -1 those that reached the target were there after 5 of 10 epochs."""
    (found,) = samples_needed(WELL, [stopped(val_loss=0.2, samples=3000.0)])
    ahead = EpochsAhead.of(math.log(2), 2)
    assert found.samples == pytest.approx(3000 * math.exp(ahead.mean))
    assert found.deviation == ahead.deviation


def test_none_is_further_from_the_target_than_after_its_first_epoch() -> None:
    (found,) = samples_needed(WELL, [stopped(val_loss=100.0, samples=1000.0)])
    assert found.samples == pytest.approx(1000 * math.exp(EpochsAhead.of(math.log(10), 2).mean))


def test_one_with_a_lower_error_than_at_the_target_was_about_to_reach_it() -> None:
    (found,) = samples_needed(WELL, [stopped(val_loss=0.05, samples=1000.0)])
    assert found.samples == pytest.approx(1000 * math.exp(EpochsAhead.of(0.0, 2).mean))


def test_without_slopes_and_epochs_usual_ones_are_taken() -> None:
    short = [ran(val_loss=0.1, samples=1000.0)]
    near, far = samples_needed(short, [stopped(val_loss=0.2, samples=1000.0), stopped(val_loss=90.0, samples=1000.0)])
    assert near.samples == pytest.approx(1000 * math.exp(EpochsAhead.of(2 * math.log(2), 1).mean))
    assert far.samples == pytest.approx(1000 * math.exp(EpochsAhead.of(math.log(MOST_EPOCHS), 1).mean))


@pytest.mark.parametrize("known", [{"samples": 1000.0}, {"val_loss": 0.2}, {"val_loss": 0.0, "samples": 1000.0}])
def test_of_what_was_not_measured_nothing_is_said(known: dict[str, float]) -> None:
    assert samples_needed(WELL, [stopped(**known)]) == []
    assert samples_needed(WELL, [ran(RunStatus.STOPPED, val_loss=0.2, samples=1000.0)]) == []
    assert samples_needed([ran(samples=1000.0)], [stopped(val_loss=0.2, samples=1000.0)]) == []
