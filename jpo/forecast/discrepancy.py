"""Discrepancy between simulated jobs and measurements: how well each particle explains them, and its adjustment towards them."""

from dataclasses import dataclass

import numpy as np

from jpo.forecast.measurements import Measurements
from jpo.forecast.weights import flattened
from jpo.records import Candidates, Floats, Ints

_NU = 4.0
"""Degrees of freedom of the likelihood: heavy tails, so that one odd run does not rule out every job."""
ADJUSTING_SHARE = 0.2
"""Share of the particles from which the covariance is estimated; 0.05 to 0.5 gave equal errors, within 10%."""
REACH = {"cpus": 2.0, "memory_gib": 4.0}
"""Length scale of a discrepancy in doublings of a parameter, else 1. Memory and CPUs hardly change a run that has enough."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Standard deviations of ln: `tau` between a job and its best particle at one candidate, `noise` between two equal runs."""

    tau: float
    noise: float


TIME_TAU = 0.12
"""sd of ln duration; 0.06 to 0.3 gave equal results on recorded jobs. The noise comes from the runs (belief.py)."""
LOSS = Discrepancy(0.15, 0.03)
"""Of ln validation loss. With 0.08, 90% intervals held 73 to 76% of LCBench's losses; regret was the same from 0.08 to 0.25."""
UTILISATION, PRICE = Discrepancy(0.3, 0.1), Discrepancy(0.08, 0.02)
"""Of ln utilisation, and of ln price per second relative to the candidates' rates. Assumed."""


@dataclass(frozen=True, eq=False, slots=True)
class AdjustedParticles:
    """Particles of one quantity, adjusted to the runs: logs (J, K), their levels (J,), and the log-likelihood of each (J,)."""

    log: Floats
    level: Floats
    log_likelihood: Floats


def adjusted(
    simulated: Floats, measurements: Measurements, lower_bounds: Measurements, discrepancy: Discrepancy, candidates: Candidates
) -> AdjustedParticles:
    """Particles with a fitted level, scored with a Student t likelihood, and adjusted towards the workload's own measurements.

    Only ratios are simulated, so the level s_j is the mean of (measured - simulated) over the measured candidates, each weighted
    with 1 / (tau^2 + noise^2 / n). The rest is explained by the differences between particles, and by a discrepancy, a Gaussian
    process with sd tau over the configurations:

        f' = f + (C_.S + tau^2 A_.S) (C_SS + tau^2 A_SS + noise^2 / n)^-1 (y - f_S - s)

    with C the covariance of the particles that explain the runs. Then the current column is made 0 again. Stopped runs give
    lower bounds only: they move the particles that are below them.

    Source: Beaumont et al., "Approximate Bayesian Computation in Population Genetics", Genetics 2002 (regression
    adjustment); Kennedy and O'Hagan, "Bayesian calibration of computer models", JRSS B 2001 (discrepancy as a Gaussian process).
    """
    jobs = len(simulated)
    if not measurements.rows.size:
        return AdjustedParticles(simulated, np.zeros(jobs), np.zeros(jobs))
    level, log_likelihood = explained(simulated, measurements, lower_bounds, discrepancy)
    missing = measurements.mean - simulated[:, measurements.rows] - level[:, None]
    residual = np.concatenate((missing, short_of(simulated, level, lower_bounds)), axis=1)  # (J, M + L)
    rows, count = np.concatenate((measurements.rows, lower_bounds.rows)), np.concatenate((measurements.count, lower_bounds.count))
    together = _covariance(simulated, level, rows, log_likelihood) + discrepancy.tau**2 * correlation(candidates, rows)
    among_seen = together[:, rows] + np.diag(discrepancy.noise**2 / count)
    adjusted = residual @ np.linalg.solve(among_seen, together)  # (J, M) @ (M, K)
    adjusted += simulated
    shift = adjusted[:, candidates.current].copy()
    adjusted -= shift[:, None]
    return AdjustedParticles(adjusted, level + shift, log_likelihood)


def _covariance(simulated: Floats, level: Floats, rows: Ints, log_likelihood: Floats) -> Floats:
    """Covariance of the particles between some rows and all candidates, levels included, (M, K); good particles count most."""
    weights = flattened(log_likelihood, ADJUSTING_SHARE)
    at_rows = simulated[:, rows] + level[:, None]
    weighted = weights[:, None] * (at_rows - weights @ at_rows)  # (J, M), sums to 0
    return np.asarray((simulated.T @ weighted).T + (weighted.T @ level)[:, None])


def explained(
    simulated: Floats, measurements: Measurements, lower_bounds: Measurements, discrepancy: Discrepancy
) -> tuple[Floats, Floats]:
    """The level of each particle, (J,), and its log-likelihood given measurements and lower bounds, (J,)."""
    variance = discrepancy.tau**2 + discrepancy.noise**2 / measurements.count
    residual = measurements.mean - simulated[:, measurements.rows]  # (J, M)
    level = residual @ (1 / variance) / np.sum(1 / variance)
    log_likelihood = student_t(residual - level[:, None], variance)
    return level, log_likelihood + student_t(short_of(simulated, level, lower_bounds), discrepancy.tau**2 + discrepancy.noise**2)


def short_of(log: Floats, level: Floats, lower_bounds: Measurements) -> Floats:
    """Shortfall of each particle below the lower bounds, (J, L)."""
    return np.asarray(np.maximum(lower_bounds.mean - level[:, None] - log[:, lower_bounds.rows], 0))


def student_t(residual: Floats, variance: "Floats | float") -> Floats:
    """Log-likelihood of residuals (J, M) under Student's t, up to a constant, shape (J,)."""
    return np.asarray(-(_NU + 1) / 2 * np.log1p(residual**2 / (_NU * variance)).sum(axis=1))


def correlation(candidates: Candidates, rows: Ints) -> Floats:
    """Correlation of the discrepancy between some rows and all candidates, shape (M, K), in 0..1."""
    steps = np.log2(np.maximum(candidates.values, 1e-6)) / [REACH.get(name, 1.0) for name in candidates.names]
    squares = np.zeros((len(rows), len(steps)))
    for column in steps.T:
        squares += (column[rows, None] - column[None, :]) ** 2
    return np.asarray(np.exp(-squares / 2))
