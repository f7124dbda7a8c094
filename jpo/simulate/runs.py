"""Noisy runs of simulated jobs, as an agent sees them while it is trained."""

from dataclasses import dataclass

import numpy as np

from jpo.records import Draws

_CRASHES = 0.01
"""Share of runs that fail for reasons outside the job (a node dies)."""
_NOISELESS, _MOST_NOISE = 0.3, 0.15
"""Share of jobs without noise in ln duration, and its largest standard deviation among the others."""
_LOSS_NOISE, _UTILISATION_NOISE = 0.02, 0.03
"""Standard deviation of the natural log between two runs of one configuration."""
_PATIENCE = float(np.log(2.0))
"""A failing run is stopped, and paid for, at twice the duration of today's."""


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """The outcome of one run, in natural logs relative to a noise-free run of the current candidate.

    Attributes:
        log_time: duration, for a failed run until it was stopped.
        log_loss, log_utilisation: always finite; of a failed run they mean nothing.
        failed: out of memory, diverged, target not reached, or crashed.
    """

    log_time: float
    log_loss: float
    log_utilisation: float
    failed: bool


def draw_noise(rng: np.random.Generator) -> float:
    """The noise of a job, the standard deviation of ln duration between equal runs: 0 in 30% of the jobs, else up to 0.15."""
    return 0.0 if rng.random() < _NOISELESS else float(rng.uniform(0.0, _MOST_NOISE))


def observe(draws: Draws, job: int, candidate: int, rng: np.random.Generator, *, noise: float | None = None) -> SimulatedRun:
    """One run of a job. `noise`: the job's own, from `draw_noise`; None draws it for this run."""
    sigma = draw_noise(rng) if noise is None else noise
    time, loss, utilisation = rng.normal(0.0, 1.0, 3) * (sigma, _LOSS_NOISE, _UTILISATION_NOISE)
    failed = bool(draws.fails[job, candidate]) or bool(rng.random() < _CRASHES)
    log_time = float(draws.log_time[job, candidate])
    return SimulatedRun(
        log_time=(min(log_time, _PATIENCE) if failed else log_time) + float(time),
        log_loss=float(draws.log_loss[job, candidate] + loss),
        log_utilisation=float(draws.log_utilisation[job, candidate] + utilisation),
        failed=failed,
    )
