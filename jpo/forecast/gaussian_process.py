"""Gaussian process over the configurations that ran: what is expected elsewhere of a number of which no formula is known.

Matérn 5/2 with a length scale per knob, a level that is not known, and noise. Nothing is maximised: what is not known of the
hyper-parameters stays in DRAWS of them, since few runs say little about how far a knob reaches. Where other jobs ran over the
same parameters, one of these is whether this job is like them, as the runs say.

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, ch. 2, 4 and 5; Snoek et al., "Practical Bayesian
Optimization of Machine Learning Algorithms", NIPS 2012 (hyper-parameters integrated out).
"""

import numpy as np

from jpo.forecast.transfer import RESIDUAL
from jpo.records import Bools, Floats, Ints

DRAWS, STEPS = 24, 8
"""Draws of the hyper-parameters, and Metropolis steps of each, from the prior's draws that explain the runs best."""
LENGTH, AMPLITUDE, NOISE = (-0.25, 1.0), (0.0, 0.6), (-3.0, 1.3)
"""Mean and sd of ln: length scales in ranges of a knob, amplitude and noise in standard deviations of the runs."""
JITTER = 1e-6


def process_after(
    points: Floats,
    knobs: Ints,
    rows: Ints,
    values: Floats,
    surfaces: "Floats | None" = None,
    *,
    trust: float = 0.0,
    seed: int,
) -> tuple[Floats, Floats]:
    """Mean and sd at all points after at least one run, (DRAWS, K) each, without the noise of a run.

    Args:
        points: shape (K, C), each column 0..1 over the range of a knob; a word has a column for each of its values, 0 or 2^-.5.
        knobs: shape (C,), which knob a column belongs to.
        rows, values: shape (R,), which points ran, and what was measured there.
        surfaces: shape (M, K), what other jobs would measure here, up to a constant: their mean and covariance are the process's
            in those draws that hold this job to be like them, a share of `trust` before the runs are weighed.
    """
    rng, spread = np.random.default_rng((seed, len(values))), float(values.std()) or 1.0
    others = np.zeros((2, len(points))) if surfaces is None else surfaces / spread
    others = others - others[:, rows].mean(axis=1, keepdims=True)  # as the values: their level is not known
    usual, away = others.mean(axis=0), (others - others.mean(axis=0)) / np.sqrt(len(others) - 1)
    alike, ran = away[:, rows].T @ away, points[rows]
    wanted = (values - values.mean()) / spread

    def covariance(draws: Floats, like: Bools, there: Floats, of_others: Floats) -> Floats:
        alone = 1 + _amplitude(draws) * _matern(ran, there, draws, knobs)
        return np.asarray(alone + like[:, None, None] * of_others) if like.any() else alone

    def weighed(draws: Floats, like: Bools) -> tuple[Floats, Floats]:
        """Covariance of the runs under each draw, with their noise, (D, R, R), and what the process has to explain, (D, R)."""
        noise = np.exp(2 * draws[:, -1, None, None]) + JITTER
        return covariance(draws, like, ran, alike[:, rows]) + noise * np.eye(len(rows)), wanted - like[:, None] * usual[rows]

    like = np.random.default_rng((seed, len(values), 1)).random(8 * DRAWS) < trust
    middle, width = np.array([*[LENGTH] * (int(knobs.max()) + 1), AMPLITUDE, NOISE]).T
    middles = np.tile(middle, (len(like), 1))
    middles[like, -2] = np.log(RESIDUAL / spread)
    draws = middles + width * rng.standard_normal(middles.shape)
    fits = _log_likelihood(*weighed(draws, like))
    weights = np.exp(fits - fits.max())
    chosen = rng.choice(len(draws), DRAWS, p=weights / weights.sum())
    draws, like, middles = draws[chosen], like[chosen], middles[chosen]
    score = fits[chosen] - _square(draws, middles, width)
    for _ in range(STEPS):
        moved = draws + 0.5 * width * rng.standard_normal(draws.shape) * (rng.random(draws.shape) < 0.5)
        moved_score = _log_likelihood(*weighed(moved, like)) - _square(moved, middles, width)
        better = np.log(rng.random(DRAWS)) < moved_score - score
        draws, score = np.where(better[:, None], moved, draws), np.where(better, moved_score, score)
    of_runs, left = weighed(draws, like)
    inverse, between = np.linalg.inv(of_runs), covariance(draws, like, points, alike)  # (D, R, R), (D, R, K)
    mean = like[:, None] * usual + np.matmul(np.matmul(left[:, None, :], inverse), between)[:, 0, :]
    before = 1 + _amplitude(draws)[:, 0] + like[:, None] * (away**2).sum(axis=0)
    variance = before - (between * np.matmul(inverse, between)).sum(axis=1)
    return values.mean() + spread * mean, spread * np.sqrt(np.maximum(variance, JITTER**2))


def _amplitude(draws: Floats) -> Floats:
    return np.asarray(np.exp(2 * draws[:, -2, None, None]))


def _log_likelihood(covariance: Floats, values: Floats) -> Floats:
    """ln of the marginal likelihood of each draw, up to a constant, (D, R, R), (D, R) -> (D,)."""
    lower = np.linalg.cholesky(covariance)
    white = np.linalg.solve(lower, values[..., None])[..., 0]
    return np.asarray(-(white**2).sum(axis=1) / 2 - np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1))


def _square(draws: Floats, middle: Floats, width: Floats) -> Floats:
    return np.asarray((((draws - middle) / width) ** 2).sum(axis=1) / 2)


def _matern(some: Floats, others: Floats, draws: Floats, knobs: Ints) -> Floats:
    """Matérn 5/2 correlation between points under each draw's length scales, (D, R, K)."""
    squares = (some[:, None, :] - others[None, :, :]) ** 2  # (R, K, C)
    scaled = np.tensordot(np.exp(-2 * draws[:, knobs]), squares, axes=(1, 2))
    away = np.sqrt(5 * scaled)
    return np.asarray((1 + away * (1 + away / 3)) * np.exp(-away))


def expected_improvement(mean: Floats, sd: Floats, best: Floats) -> Floats:
    """What is expected to be gained below `best`, losses counted as none, of normal values; shapes broadcast.

    Source: Mockus, "On Bayesian Methods for Seeking the Extremum", 1975. The normal distribution function is the logistic
    approximation of Bowling et al., JIEM 2009, within .0002.
    """
    z = (best - mean) / sd
    below = 1 / (1 + np.exp(-np.clip(0.07056 * z**3 + 1.5976 * z, -700, 700)))
    return np.asarray(np.maximum(sd * (z * below + np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)), 0))
