"""Do 90 % intervals hold what they say, on simulated jobs that the belief has not seen? The two parts meet here only."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast import posterior, predict
from jpo.records import Candidates, Draws, Identity, Interval, Outcome, Run, RunStatus
from jpo.simulate import draw_jobs, draw_noise, observe, random_candidates

GRIDS, JOBS = 50, 4


@pytest.mark.parametrize("runs", [3, 8])
def test_ninety_percent_intervals_cover_most_outcomes(runs: int) -> None:
    rng = np.random.default_rng(2026)
    hits = [hit for _ in range(GRIDS) for hit in _hits_on_one_grid(runs, rng)]
    coverage = np.mean(hits, axis=0)
    print(f"after {runs} runs: duration {coverage[0]:.3f}, loss {coverage[1]:.3f} of {len(hits)}")  # noqa: T201
    assert 0.80 <= coverage[0] <= 0.97
    assert coverage[1] >= 0.80


def _hits_on_one_grid(runs: int, rng: np.random.Generator) -> list[tuple[bool, bool]]:
    candidates = random_candidates(rng)
    prior, truth = draw_jobs(candidates, 1000, rng), draw_jobs(candidates, JOBS, rng)
    return [_hit(candidates, prior, truth, job, runs, rng) for job in range(JOBS) if not truth.fails[job, candidates.current]]


def _hit(candidates: Candidates, prior: Draws, truth: Draws, job: int, runs: int, rng: np.random.Generator) -> tuple[bool, bool]:
    """Today's run, some others anywhere, then one more to forecast: does it lie inside?"""
    passing, noise = np.flatnonzero(~truth.fails[job]), draw_noise(rng)
    rows = [candidates.current, *(int(row) for row in rng.choice(passing, runs))]
    *seen, last = [_run(candidates, truth, job, row, at, noise, rng) for at, row in enumerate(rows)]
    forecast = predict(posterior(prior, candidates, seen), rows[-1], usd_per_hour=None)
    outcome = last.outcome
    return _inside(outcome.duration_seconds, forecast.duration_seconds), _inside(outcome.val_loss, forecast.val_loss)


def _run(candidates: Candidates, truth: Draws, job: int, row: int, at: int, noise: float, rng: np.random.Generator) -> Run:
    one = observe(truth, job, row, rng, noise=noise)
    outcome = Outcome(duration_seconds=600 * float(np.exp(one.log_time)), val_loss=0.5 * float(np.exp(one.log_loss)))
    identity = Identity("simulated", "job", "none")
    return Run(str(at), identity, candidates.parameters(row), RunStatus.SUCCEEDED, None, float(at), outcome, "observe")


def _inside(value: float | None, interval: Interval | None) -> bool:
    return value is not None and interval is not None and interval.low <= value <= interval.high
