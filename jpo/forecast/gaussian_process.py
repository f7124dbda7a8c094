"""Gaussian process over the configurations that ran: what is expected elsewhere of a number of which no formula is known.

Matérn 5/2 with a length scale per knob, a level that is not known, and noise. Nothing is maximised: what is not known of the
hyper-parameters stays in DRAWS of them, since few runs say little about how far a knob reaches.

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, ch. 2, 4 and 5; Snoek et al., "Practical Bayesian
Optimization of Machine Learning Algorithms", NIPS 2012 (hyper-parameters integrated out).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jpo.records import Floats, Ints

DRAWS, STEPS = 24, 8
"""Draws of the hyper-parameters, and Metropolis steps of each, from the prior's draws that explain the runs best."""
LENGTH, AMPLITUDE, NOISE = (-0.25, 1.0), (0.0, 0.6), (-3.0, 1.3)
"""Mean and sd of ln: length scales in ranges of a knob, amplitude and noise in standard deviations of the runs."""
JITTER = 1e-6


@dataclass(frozen=True, eq=False, slots=True)
class FittedProcess:
    """Gaussian process after runs.

    Attributes:
        points: shape (R, C), of the runs; knobs: shape (C,), which knob a column belongs to.
        draws: shape (D, knobs + 2): ln of the length scales, of the amplitude and of the noise.
        solved: shape (D, R), inverse: shape (D, R, R): the inverse covariance of the runs, times their values and alone.
        middle, spread: mean and sd of the runs' values.
    """

    points: Floats
    knobs: Ints
    draws: Floats
    solved: Floats
    inverse: Floats
    middle: float
    spread: float

    def at(self, points: Floats) -> tuple[Floats, Floats]:
        """Mean and sd at points, (K, C) -> (D, K) each, without the noise of a run."""
        amplitude = np.exp(2 * self.draws[:, -2])
        between = amplitude[:, None, None] * _matern(self.points, points, self.draws, self.knobs) + 1  # (D, R, K)
        mean = np.matmul(self.solved[:, None, :], between)[:, 0, :]
        variance = amplitude[:, None] + 1 - (between * np.matmul(self.inverse, between)).sum(axis=1)
        return self.middle + self.spread * mean, self.spread * np.sqrt(np.maximum(variance, JITTER**2))


def fit(points: Floats, knobs: Ints, values: Floats, *, seed: int) -> FittedProcess:
    """Gaussian process after at least one run.

    Args:
        points: shape (R, C), each column 0..1 over the range of a knob; a word has a column for each of its values, 0 or 2^-.5.
        values: shape (R,).
    """
    rng, spread = np.random.default_rng((seed, len(values))), float(values.std()) or 1.0
    wanted = (values - values.mean()) / spread
    middle, width = np.array([*[LENGTH] * (int(knobs.max()) + 1), AMPLITUDE, NOISE]).T
    draws = middle + width * rng.standard_normal((8 * DRAWS, len(middle)))
    fits = _log_likelihood(points, knobs, wanted, draws)
    weights = np.exp(fits - fits.max())
    chosen = rng.choice(len(draws), DRAWS, p=weights / weights.sum())
    draws, score = draws[chosen], fits[chosen] - _square(draws[chosen], middle, width)
    for _ in range(STEPS):
        moved = draws + 0.5 * width * rng.standard_normal(draws.shape) * (rng.random(draws.shape) < 0.5)
        moved_score = _log_likelihood(points, knobs, wanted, moved) - _square(moved, middle, width)
        better = np.log(rng.random(DRAWS)) < moved_score - score
        draws, score = np.where(better[:, None], moved, draws), np.where(better, moved_score, score)
    inverse = np.asarray(np.linalg.inv(_covariance(points, knobs, draws)), dtype=np.float64)
    return FittedProcess(points, knobs, draws, np.asarray(inverse @ wanted), inverse, float(values.mean()), spread)


def _covariance(points: Floats, knobs: Ints, draws: Floats) -> Floats:
    """Covariance of the runs under each draw, (D, R, R): the level, what the knobs do, and noise."""
    amplitude, noise = np.exp(2 * draws[:, -2:, None, None]).transpose(1, 0, 2, 3)  # (D, 1, 1) each
    return np.asarray(1 + amplitude * _matern(points, points, draws, knobs) + (noise + JITTER) * np.eye(len(points)))


def _log_likelihood(points: Floats, knobs: Ints, values: Floats, draws: Floats) -> Floats:
    """ln of the marginal likelihood of each draw, up to a constant, (D,)."""
    lower = np.linalg.cholesky(_covariance(points, knobs, draws))
    white = np.linalg.solve(lower, np.broadcast_to(values[:, None], (len(draws), len(values), 1)))[..., 0]
    return np.asarray(-(white**2).sum(axis=1) / 2 - np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1))


def _square(draws: Floats, middle: Floats, width: Floats) -> Floats:
    return np.asarray((((draws - middle) / width) ** 2).sum(axis=1) / 2)


def _matern(some: Floats, others: Floats, draws: Floats, knobs: Ints) -> Floats:
    """Matérn 5/2 correlation between points under each draw's length scales, (D, R, K)."""
    squares = (some[:, None, :] - others[None, :, :]) ** 2  # (R, K, C)
    scaled = np.tensordot(np.exp(-2 * draws[:, knobs]), squares, axes=(1, 2))
    away = np.sqrt(5 * scaled)
    return np.asarray((1 + away + away**2 / 3) * np.exp(-away))


def expected_improvement(mean: Floats, sd: Floats, best: Floats) -> Floats:
    """What is expected to be gained below `best`, losses counted as none, of normal values; shapes broadcast.

    Source: Mockus, "On Bayesian Methods for Seeking the Extremum", 1975. The normal distribution function is the logistic
    approximation of Bowling et al., JIEM 2009, within .0002.
    """
    z = (best - mean) / sd
    below = 1 / (1 + np.exp(-np.clip(0.07056 * z**3 + 1.5976 * z, -700, 700)))
    return np.asarray(np.maximum(sd * (z * below + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)), 0))
