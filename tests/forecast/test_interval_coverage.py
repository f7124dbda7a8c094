"""Do intervals hold what they say, on simulated jobs that the belief has not seen? The two parts meet here only."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.belief import posterior
from jpo.forecast.predict import predict
from jpo.records import Candidates, Draws, Identity, Interval, Outcome, Run, RunStatus
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import draw_noise, observe

GRIDS, JOBS = 50, 4
LEVELS = (0.5, 0.8, 0.9)


@pytest.mark.parametrize("runs", [3, 8])
def test_intervals_cover_the_share_of_outcomes_that_they_name(runs: int) -> None:
    rng = np.random.default_rng(2026)
    hits = [hit for _ in range(GRIDS) for hit in _hits_on_one_grid(runs, rng)]
    duration, loss = np.mean(hits, axis=0)  # (levels,) each
    print(f"after {runs} runs: duration {duration.round(3)}, loss {loss.round(3)} of {len(hits)}")  # noqa: T201
    assert all(duration > np.subtract(LEVELS, 0.1))
    # Too wide here, because simulated jobs have nothing that no simulated job explains; recorded ones do, and they count.
    assert all(duration < np.add(LEVELS, [0.3, 0.16, 0.09]))
    assert all(loss > np.subtract(LEVELS, 0.1))


def _hits_on_one_grid(runs: int, rng: np.random.Generator) -> list[np.ndarray]:
    candidates = random_candidates(rng)
    prior, truth = draw_jobs(candidates, 1000, rng), draw_jobs(candidates, JOBS, rng)
    return [_hit(candidates, prior, truth, job, runs, rng) for job in range(JOBS) if not truth.fails[job, candidates.current]]


def _hit(candidates: Candidates, prior: Draws, truth: Draws, job: int, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Today's run, some others anywhere, then one more to forecast: does it lie inside? Shape (2, levels): duration and loss."""
    passing, noise = np.flatnonzero(~truth.fails[job]), draw_noise(rng)
    rows = [candidates.current, *(int(row) for row in rng.choice(passing, runs))]
    *seen, last = [_run(candidates, truth, job, row, at, noise, rng) for at, row in enumerate(rows)]
    belief, outcome = posterior(prior, candidates, seen), last.outcome
    forecasts = [predict(belief, rows[-1], usd_per_hour=None, coverage=level) for level in LEVELS]
    durations = [_inside(outcome.duration_seconds, simulated.duration_seconds) for simulated in forecasts]
    return np.array([durations, [_inside(outcome.val_loss, simulated.val_loss) for simulated in forecasts]])


def _run(candidates: Candidates, truth: Draws, job: int, row: int, at: int, noise: float, rng: np.random.Generator) -> Run:
    simulated = observe(truth, job, row, rng, noise=noise)
    outcome = Outcome(duration_seconds=600 * float(np.exp(simulated.log_time)), val_loss=0.5 * float(np.exp(simulated.log_loss)))
    identity = Identity("simulated", "job", "none")
    return Run(str(at), identity, candidates.parameters(row), RunStatus.SUCCEEDED, None, float(at), outcome, "observe")


def _inside(value: float | None, interval: Interval | None) -> bool:
    return value is not None and interval is not None and interval.low <= value <= interval.high
