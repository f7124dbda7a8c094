"""Ensembles of surfaces from a normal prior, conditioned on measurements: exact where weights would need millions of draws."""

import numpy as np

from jpo.forecast.discrepancy import AdjustedParticles, Discrepancy, explained, short_of
from jpo.forecast.measurements import Measurements
from jpo.records import Floats

_REMAINDER = 0.03
"""sd of ln between a surface and the closest members: small, because their smooth residuals are drawn (transfer.py). With
the discrepancy of simulated jobs, LCBench's regret after 3 and 5 runs was .22 and .17; with this, .18 and .13."""
VAGUE = 10.0
"""Prior sd of a surface's unknown level, in ln: practically flat."""


def conditioned(
    simulated: Floats,
    measurements: Measurements,
    lower_bounds: Measurements,
    discrepancy: Discrepancy,
    current: int,
    rng: np.random.Generator,
) -> AdjustedParticles:
    """The ensemble conditioned on the measurements; each member is then a draw from the posterior.

    f' = f + C_.S (C_SS + R)^-1 (y + e - f_S - s), with C the covariance of the ensemble, s the member's unknown level, and e
    drawn with variance R = 0.03^2 + noise^2 / n. All members count the same afterwards.

    Args:
        simulated: shape (J, K), drawn from the prior.
        lower_bounds: from stopped runs; they lift the members that are below, and what correlates with them.
        discrepancy: as for simulated jobs, so that the likelihoods of both kinds can be compared; only its noise adjusts.

    `log_likelihood` is that of the members before they were conditioned.

    Source: Evensen, "The Ensemble Kalman Filter", Ocean Dynamics 2003; for Gaussian processes Wilson et al., "Efficiently
    Sampling Functions from Gaussian Process Posteriors", ICML 2020 (Matheron's rule).
    """
    jobs = len(simulated)
    if not measurements.rows.size:
        return AdjustedParticles(simulated, np.zeros(jobs), np.zeros(jobs))
    _, log_likelihood = explained(simulated, measurements, lower_bounds, discrepancy)
    variance = _REMAINDER**2 + discrepancy.noise**2 / measurements.count
    deviation = simulated - simulated.mean(axis=0)
    at_measurements = deviation[:, measurements.rows]  # (J, M)
    residual = measurements.mean - simulated[:, measurements.rows]  # (J, M)
    level = float(residual.mean()) + VAGUE * rng.standard_normal(jobs)
    missing = residual - level[:, None] + np.sqrt(variance) * rng.standard_normal(residual.shape)
    together = at_measurements.T @ deviation / (jobs - 1)  # (M, K)
    among_measured = together[:, measurements.rows] + VAGUE**2 + np.diag(variance)  # the level is common to all
    gain = np.linalg.solve(among_measured, missing.T).T  # (J, M)
    adjusted = simulated + gain @ together
    level = level + VAGUE**2 * gain.sum(axis=1)
    if lower_bounds.rows.size:
        adjusted = _lifted(adjusted, short_of(adjusted, level, lower_bounds), lower_bounds, discrepancy)
    shift = adjusted[:, current].copy()
    return AdjustedParticles(adjusted - shift[:, None], level + shift, log_likelihood)


def _lifted(log: Floats, short: Floats, lower_bounds: Measurements, discrepancy: Discrepancy) -> Floats:
    """Members below a lower bound, conditioned once more as if the bound had been measured; the others stay."""
    deviation = log - log.mean(axis=0)
    at_bounds, others = deviation[:, lower_bounds.rows], len(log) - 1
    covariance = at_bounds.T @ at_bounds / others + (discrepancy.tau**2 + discrepancy.noise**2) * np.eye(len(lower_bounds.rows))
    return np.asarray(log + np.linalg.solve(covariance, short.T).T @ (at_bounds.T @ deviation / others))
