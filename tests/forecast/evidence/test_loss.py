"""Validation losses of what differs in hardware alone, and how far a short learning curve lets them be."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.evidence.loss import measured_losses
from jpo.forecast.evidence.work import Work
from jpo.forecast.measurements import CandidateRun
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

VALUES = np.array([[batch, gpus] for batch in (32.0, 64.0) for gpus in (1.0, 2.0)])
CANDIDATES = Candidates(("batch_size", "gpus"), VALUES, 0, np.ones(4, dtype=np.bool_), np.zeros(4))


def a_run(row: int, val_loss: float | None) -> CandidateRun:
    run = Run(f"{row}", Identity("d", "m", "f"), {}, RunStatus.SUCCEEDED, None, 0.0, Outcome(val_loss=val_loss), "csv")
    return CandidateRun(row, run, 1.0)


def test_a_loss_is_known_on_any_hardware() -> None:
    losses = measured_losses(CANDIDATES, [a_run(0, 0.5), a_run(1, 0.505), a_run(2, 0.6)], None, Work.FIXED)
    assert list(losses.measurements.count) == [2, 1]
    simulated = np.zeros((3, 4))
    log = losses.adjusted(simulated).log
    assert (log[:, 0] == log[:, 1]).all()
    assert (log[:, 2] == log[:, 3]).all()
    assert (log[:, 2] > log[:, 0]).all()


def test_where_more_gpus_make_another_model_each_has_its_own_loss() -> None:
    """As where the batch size in config.ini is one of each GPU."""
    losses = measured_losses(CANDIDATES, [a_run(0, 0.5), a_run(0, 0.501), a_run(1, 0.7), a_run(1, 0.702)], None, Work.FIXED)
    assert losses.groups.single
    assert list(losses.measurements.rows) == [0, 1]


def test_equal_runs_say_how_much_a_loss_varies() -> None:
    quiet = measured_losses(CANDIDATES, [a_run(0, 0.5 + at / 1e5) for at in range(12)], None, Work.FIXED)
    loud = measured_losses(CANDIDATES, [a_run(0, loss) for loss in (0.4, 0.5, 0.6, 0.45, 0.55)], None, Work.FIXED)
    assert quiet.discrepancy.noise < 0.02 < 0.05 < loud.discrepancy.noise


@pytest.mark.parametrize(("slope", "tau"), [(None, 0.15), (-0.23, 0.046), (-5.0, 0.15), (0.0, 0.0)])
def test_a_flat_learning_curve_leaves_little_room_for_misfit(slope: float | None, tau: float) -> None:
    assert measured_losses(CANDIDATES, [a_run(0, 0.5)], slope, Work.FIXED).discrepancy.tau == pytest.approx(tau)


@pytest.mark.parametrize("val_loss", [None, 0.0, -0.4])
def test_losses_that_have_no_logarithm_say_nothing(val_loss: float | None) -> None:
    assert not measured_losses(CANDIDATES, [a_run(0, val_loss), a_run(0, val_loss)], None, Work.FIXED).measurements.rows.size


def believed(work: Work, *losses: tuple[int, float]) -> np.ndarray:
    """By what factor the loss is above the first candidate's, at each."""
    log = measured_losses(CANDIDATES, [a_run(*loss) for loss in losses], None, work).adjusted(np.zeros((3, 4))).log
    return np.asarray(np.exp((log - log[:, :1]).mean(0)))


def test_three_close_losses_at_a_target_are_no_proof_that_others_are_not_by_chance() -> None:
    """A third worse: on other hardware it is the same model, and of other values that is half believed."""
    runs = ((0, 0.100), (0, 0.101), (0, 0.099), (1, 0.135), (2, 0.135))
    assert believed(Work.FIXED, *runs)[1] > 1.3
    at_target = believed(Work.TO_TARGET, *runs)
    assert at_target[1] == pytest.approx(1)
    assert 1.05 < at_target[2] < 1.21 < believed(Work.FIXED, *runs)[2]


@pytest.mark.parametrize("other", [1, 2])
def test_a_worse_model_at_a_target_is_known_from_a_few_runs_on_other_hardware_as_with_other_values(other: int) -> None:
    few = [(0, 0.1 + at / 1e3) for at in range(4)] + [(other, 0.3 + at / 1e3) for at in range(4)]
    assert believed(Work.TO_TARGET, *few)[other] > 2.3
    many = [(0, 0.1 + at / 1e4) for at in range(15)] + [(other, 0.13 + at / 1e4) for at in range(15)]
    assert believed(Work.TO_TARGET, *many)[other] == pytest.approx(1.3, rel=0.05)


def test_however_unlike_all_values_are_the_noise_is_that_of_equal_runs() -> None:
    runs = [a_run(row, loss * (1 + at / 1e3)) for row, loss in ((0, 0.1), (2, 0.9)) for at in range(20)]
    assert measured_losses(CANDIDATES, runs, None, Work.TO_TARGET).discrepancy.noise < 0.06
