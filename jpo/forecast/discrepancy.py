"""What a simulated job does not explain: how far each particle is from the measurements, and how it is moved towards them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.weights import flattened

if TYPE_CHECKING:
    from jpo.forecast.measurements import Seen
    from jpo.records import Candidates, Floats, Ints

_NU = 4.0
"""Degrees of freedom of the likelihood: heavy tails, so that one odd run does not rule out every job."""
_MOVING_SHARE = 0.2
"""Of the particles, from whose differences is learnt what goes along with what; 0.05 to 0.5 gave equal errors, within 10%."""
_REACH = {"cpus": 2.0, "memory_gib": 4.0}
"""Over how many doublings of a parameter a misfit reaches, else 1. Memory and CPUs hardly change a run that has enough."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """sd of ln: `tau` between a job and the best particle at one candidate, `noise` between two equal runs."""

    tau: float
    noise: float


TIME_TAU = 0.12
"""sd of ln duration; 0.06 to 0.3 gave equal results on recorded jobs. The noise comes from the runs (belief.py)."""
LOSS = Discrepancy(0.15, 0.03)
"""Of ln validation loss. With 0.08, 90% intervals held 73 to 76% of LCBench's losses; regret was the same from 0.08 to 0.25."""
UTILISATION, PRICE = Discrepancy(0.3, 0.1), Discrepancy(0.08, 0.02)
"""Of ln busy share, and of ln price per second beside the candidates' rates. Assumed."""


@dataclass(frozen=True, eq=False, slots=True)
class Moved:
    """One quantity after the runs: particles (J, K), what their zero means (J,), and how well each explains it (J,)."""

    log: Floats
    level: Floats
    log_likelihood: Floats


def moved(simulated: Floats, seen: Seen, least: Seen, discrepancy: Discrepancy, candidates: Candidates) -> Moved:
    """Fit each particle's unknown level, score what remains with a Student t, and move the particle towards own measurements.

    Only ratios are simulated, so the level s_j is the mean of (measured - simulated) over the candidates seen, each weighted with
    1 / (tau^2 + noise^2 / n). What remains is explained by how particles differ from each other, and by a misfit, a Gaussian
    process with sd tau over the configurations:

        f' = f + (C_.S + tau^2 A_.S) (C_SS + tau^2 A_SS + noise^2 / n)^-1 (y - f_S - s)

    with C the covariance of the particles that explain the runs. Then the current column is made 0 again. Runs that were stopped
    say only what is the least (`least`): they move those particles that are below it.

    Source: Beaumont et al., "Approximate Bayesian Computation in Population Genetics", Genetics 2002 (particles moved by
    regression); Kennedy and O'Hagan, "Bayesian calibration of computer models", JRSS B 2001 (misfit as a Gaussian process).
    """
    jobs = len(simulated)
    if not seen.rows.size:
        return Moved(simulated, np.zeros(jobs), np.zeros(jobs))
    level, log_likelihood = explained(simulated, seen, least, discrepancy)
    missing = seen.mean - simulated[:, seen.rows] - level[:, None]
    residual = np.concatenate((missing, short_of(simulated, level, least)), axis=1)  # (J, M + L)
    rows, count = np.concatenate((seen.rows, least.rows)), np.concatenate((seen.count, least.count))
    together = _covariance(simulated, level, rows, log_likelihood) + discrepancy.tau**2 * _alike(candidates, rows)
    among_seen = together[:, rows] + np.diag(discrepancy.noise**2 / count)
    moved = simulated + residual @ np.linalg.solve(among_seen, together)  # (J, M) @ (M, K)
    shift = moved[:, candidates.current].copy()
    return Moved(moved - shift[:, None], level + shift, log_likelihood)


def _covariance(simulated: Floats, level: Floats, rows: Ints, log_likelihood: Floats) -> Floats:
    """Of the particles at some rows with all candidates, levels included, (M, K); those that explain the runs count most."""
    weights = flattened(log_likelihood, _MOVING_SHARE)
    at_rows = simulated[:, rows] + level[:, None]
    weighted = weights[:, None] * (at_rows - weights @ at_rows)  # (J, M), sums to 0
    return np.asarray(weighted.T @ simulated + (weighted.T @ level)[:, None])


def explained(simulated: Floats, seen: Seen, least: Seen, discrepancy: Discrepancy) -> tuple[Floats, Floats]:
    """Each particle's level, (J,), and ln of how well it explains what was seen and at least seen, (J,)."""
    variance = discrepancy.tau**2 + discrepancy.noise**2 / seen.count
    residual = seen.mean - simulated[:, seen.rows]  # (J, M)
    level = residual @ (1 / variance) / np.sum(1 / variance)
    log_likelihood = student_t(residual - level[:, None], variance)
    return level, log_likelihood + student_t(short_of(simulated, level, least), discrepancy.tau**2 + discrepancy.noise**2)


def short_of(log: Floats, level: Floats, least: Seen) -> Floats:
    """How much too low each particle is where a run was stopped, (J, L)."""
    return np.asarray(np.maximum(least.mean - level[:, None] - log[:, least.rows], 0))


def student_t(residual: Floats, variance: Floats | float) -> Floats:
    """ln likelihood of residuals (J, M), up to a constant, shape (J,)."""
    return np.asarray(-(_NU + 1) / 2 * np.log1p(residual**2 / (_NU * variance)).sum(axis=1))


def _alike(candidates: Candidates, rows: Ints) -> Floats:
    """How much of the misfit at some rows all candidates share, shape (M, K), in 0..1, 1 for the rows themselves."""
    steps = np.log2(np.maximum(candidates.values, 1e-6)) / [_REACH.get(name, 1.0) for name in candidates.names]
    squares = np.zeros((len(rows), len(steps)))
    for column in steps.T:
        squares += (column[rows, None] - column[None, :]) ** 2
    return np.asarray(np.exp(-squares / 2))
