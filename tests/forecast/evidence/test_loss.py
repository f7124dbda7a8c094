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


@pytest.mark.parametrize(("slope", "tau"), [(None, 0.15), (-0.23, 0.046), (-5.0, 0.15), (0.0, 0.02)])
def test_a_flat_learning_curve_leaves_little_room_for_misfit(slope: float | None, tau: float) -> None:
    assert measured_losses(CANDIDATES, [a_run(0, 0.5)], slope, Work.FIXED).discrepancy.tau == pytest.approx(tau)


@pytest.mark.parametrize("val_loss", [None, 0.0, -0.4])
def test_losses_that_have_no_logarithm_say_nothing(val_loss: float | None) -> None:
    assert not measured_losses(CANDIDATES, [a_run(0, val_loss), a_run(0, val_loss)], None, Work.FIXED).measurements.rows.size


def test_at_a_target_losses_differ_by_chance() -> None:
    """One that is a third worse than three that happen to be close, on other hardware: the same model, and no worse values."""
    runs = [a_run(0, 0.100), a_run(0, 0.101), a_run(0, 0.099), a_run(1, 0.135), a_run(2, 0.135)]
    fixed, target = (measured_losses(CANDIDATES, runs, None, work) for work in (Work.FIXED, Work.TO_TARGET))
    assert fixed.groups.single
    assert not target.groups.single
    worse = [measured.adjusted(np.zeros((3, 4))).log for measured in (fixed, target)]
    of_other_batch = [float((log[:, 2] - log[:, 0]).mean()) for log in worse]
    assert of_other_batch[0] > 0.2 > 0.15 > of_other_batch[1] > 0.0
