from __future__ import annotations

import numpy as np
import pytest
from weighted_latents import weighted

from jpo.forecast.belief import posterior
from jpo.forecast.evidence.loss import slope_log_likelihood, slope_of
from jpo.forecast.evidence.work import Work
from jpo.forecast.measurements import CandidateRun, runs_at_candidates
from jpo.records import Candidates, Draws, Identity, Outcome, Run, RunStatus
from jpo.simulate import jobs_of

GRID = Candidates(("batch_size",), np.array([[32.0], [64.0], [128.0]]), 0, np.ones(3, dtype=np.bool_), np.zeros(3))
FLAT, STEEP = -0.06, -0.4


def draws(slopes: list[float] | None) -> Draws:
    nothing = np.zeros((len(slopes or [0, 0]), 3))
    return Draws(nothing, nothing, nothing, nothing, nothing > 0, loss_slope=None if slopes is None else np.array(slopes))


def run(at: int, slope: float | None, error: float | None = 0.02, **more: object) -> Run:
    outcome = Outcome(duration_seconds=100.0, samples=1e5, val_loss=0.5, loss_slope=slope, loss_slope_error=error, **more)
    return Run(str(at), Identity("d", "m", "f"), {"batch_size": 32.0}, RunStatus.SUCCEEDED, None, float(at), outcome, "csv")


def at_today(*runs: Run) -> list[CandidateRun]:
    return runs_at_candidates(GRID, runs)


def test_a_job_as_steep_as_the_runs_is_likelier() -> None:
    flat, steep = slope_log_likelihood(draws([FLAT, STEEP]), slope_of(at_today(run(0, FLAT)), Work.UNKNOWN))
    assert flat - steep > 2
    flat, steep = slope_log_likelihood(draws([FLAT, STEEP]), slope_of(at_today(run(0, STEEP)), Work.UNKNOWN))
    assert steep - flat > 2


def test_a_slope_of_noise_says_nothing() -> None:
    flat, steep = slope_log_likelihood(draws([FLAT, STEEP]), slope_of(at_today(run(0, FLAT, 2.0)), Work.UNKNOWN))
    assert flat == pytest.approx(steep, abs=0.05)


def test_jobs_with_a_target_are_as_likely_as_the_others_together() -> None:
    flat, steep, to_target = slope_log_likelihood(draws([FLAT, STEEP, np.nan]), slope_of(at_today(run(0, FLAT)), Work.UNKNOWN))
    assert np.exp(to_target) == pytest.approx((np.exp(flat) + np.exp(steep)) / 2)


@pytest.mark.parametrize(
    ("prior", "slope", "work"),
    [
        ([FLAT, STEEP], None, Work.FIXED),
        ([FLAT, STEEP], FLAT, Work.TO_TARGET),
        ([FLAT, STEEP], 0.4, Work.FIXED),  # it overfits, which no simulated job does
        ([np.nan, np.nan], FLAT, Work.UNKNOWN),
        (None, FLAT, Work.FIXED),
    ],
)
def test_nothing_is_known_of_other_jobs(prior: list[float] | None, slope: float | None, work: Work) -> None:
    assert (slope_log_likelihood(draws(prior), slope_of(at_today(run(0, slope)), work)) == 0).all()


def test_one_run_of_another_slope_does_not_outweigh_the_others() -> None:
    runs = [*(run(at, FLAT) for at in range(4)), run(4, -5.0)]
    flat, steep = slope_log_likelihood(draws([FLAT, STEEP]), slope_of(at_today(*runs), Work.FIXED))
    assert flat > steep


def test_a_flat_curve_makes_a_larger_batch_cheaper_in_loss() -> None:
    jobs = jobs_of(GRID, weighted(2000, int(np.random.default_rng(0).integers(2**63)), {"to target": (1e-12, 1.0)}))

    def loss_of_doubling(slope: float | None) -> float:
        belief = posterior(jobs, GRID, [run(at, slope) for at in range(3)])
        return float(belief.weights @ belief.log_loss[:, 1])

    assert loss_of_doubling(FLAT) < 0.6 * loss_of_doubling(STEEP)
    assert loss_of_doubling(FLAT) < 0.8 * loss_of_doubling(None)
