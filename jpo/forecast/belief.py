"""The belief: simulated jobs weighted by how well they explain the runs so far, each moved towards what was measured.

It knows neither prices nor preferences: it says what would happen, the agent says what is wanted.
Source: importance weighting of a simulator's draws (likelihood-free inference), Cranmer et al., PNAS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.seen import Placed, Seen, measured, place
from jpo.records import Belief, Candidates, Draws, Run

if TYPE_CHECKING:
    from jpo.records import Floats, Ints

_NU = 4.0
"""Degrees of freedom of the likelihood: heavy tails, so that one odd run does not rule out every job."""
_NOISE, _NOISE_RUNS = 0.06, 4.0
"""Prior sd of ln duration between equal runs, and how many degrees of freedom it counts."""
_LEAST_SHARE = 0.05
"""The likelihood is flattened until at least this share of the particles counts: no forecast rests on a handful of jobs."""
_FAILS_BY_CHANCE, _PASSES_BY_CHANCE = 0.05, 0.1
"""Probability that a run fails where the job would pass, and passes where the simulated job fails."""


@dataclass(frozen=True, slots=True)
class _Misfit:
    """sd of ln: `tau` between a job and the best particle at one candidate, `noise` between two equal runs."""

    tau: float
    noise: float


_LOSS, _UTILISATION = _Misfit(0.08, 0.03), _Misfit(0.3, 0.1)
_TAU_TIME = 0.12
_REACH = {"cpus": 2.0, "memory_gib": 4.0}
"""Over how many doublings of a parameter a misfit reaches, else 1. Memory and CPUs hardly change a run that has enough."""


@dataclass(frozen=True, eq=False, slots=True)
class _Moved:
    """One quantity after the runs: particles (J, K), what their zero means (J,), and how well each explains it (J,)."""

    log: Floats
    level: Floats
    log_likelihood: Floats


def posterior(draws: Draws, candidates: Candidates, runs: Sequence[Run]) -> Belief:
    """Weigh and move the simulated jobs by the runs so far, which may come in any order.

    Args:
        draws: shape (J, K), from the simulator on these candidates.
        runs: of this workload. A parameter that a run does not report is taken to have today's value; runs that match no
            candidate are ignored. Runs that failed, were stopped or did not converge count as failures and not for durations.

    Returns:
        `runs` counts the runs that ended well, `failures` the others. Where nothing was measured, the prior.
    """
    placed = place(candidates, runs)
    well = [one for one in placed if not one.failed]
    now = candidates.current
    noise = _noise(well)
    time_seen = measured(well, lambda one: one.run.outcome.duration_seconds)
    loss_seen = measured(well, lambda one: one.run.outcome.val_loss)
    alike = _alike(candidates)
    time = _moved(draws.log_time, time_seen, _Misfit(_TAU_TIME, noise), alike, now)
    loss = _moved(draws.log_loss, loss_seen, _LOSS, alike, now)
    utilisation_seen = _utilisation(well)
    utilisation = _moved(draws.log_utilisation, utilisation_seen, _UTILISATION, alike, now)
    log_likelihood = time.log_likelihood + loss.log_likelihood + utilisation.log_likelihood + _of_failures(draws, placed)
    weights = _weights(log_likelihood)
    count = _counts([one.row for one in well], len(candidates.values))
    failures = _counts([one.row for one in placed if one.failed], len(candidates.values))
    return Belief(
        weights=weights,
        log_time=time.log,
        log_cost=time.log + candidates.log_rate,
        log_loss=loss.log,
        log_utilisation=utilisation.log,
        p_fail=(weights @ draws.fails + failures) / (1 + count + failures),  # the particles count as one run
        runs=count,
        failures=failures,
        noise=noise,
        duration_seconds=float(np.exp(weights @ time.level)) if time_seen.rows.size else None,
        val_loss=float(np.exp(weights @ loss.level)) if loss_seen.rows.size else None,
        effective_share=_effective_share(_softmax(log_likelihood)),
        knows_utilisation=bool(utilisation_seen.rows.size),
    )


def _moved(simulated: Floats, seen: Seen, misfit: _Misfit, alike: Floats, current: int) -> _Moved:
    """Fit each particle's unknown level, score what remains with a Student t, and move the particle towards own measurements.

    Only ratios are simulated, so the level s_j is the mean of (measured - simulated) over the candidates seen, each weighted with
    1 / (tau^2 + noise^2 / n). What remains is the particle's misfit, a Gaussian process with sd tau over the configurations: it
    moves the candidates seen by the share tau^2 / (tau^2 + noise^2 / n) if they stand alone, and those like them nearly as much.
    Then the current column is made 0 again.

    Source: Kennedy and O'Hagan, "Bayesian calibration of computer models", JRSS B 2001 (discrepancy as a Gaussian process).
    """
    jobs = len(simulated)
    if not seen.rows.size:
        return _Moved(simulated, np.zeros(jobs), np.zeros(jobs))
    variance = misfit.tau**2 + misfit.noise**2 / seen.count
    residual = seen.mean - simulated[:, seen.rows]  # (J, M)
    level = residual @ (1 / variance) / np.sum(1 / variance)
    residual = residual - level[:, None]
    log_likelihood = -(_NU + 1) / 2 * np.log1p(residual**2 / (_NU * variance)).sum(axis=1)
    among_seen = alike[np.ix_(seen.rows, seen.rows)] + np.diag(misfit.noise**2 / (seen.count * misfit.tau**2))
    moved = simulated + residual @ np.linalg.solve(among_seen, alike[seen.rows])  # (J, M) @ (M, K)
    shift = moved[:, current].copy()
    return _Moved(moved - shift[:, None], level + shift, log_likelihood)


def _alike(candidates: Candidates) -> Floats:
    """How much of one candidate's misfit another one shares, shape (K, K), in 0..1, 1 on the diagonal."""
    steps = np.log2(np.maximum(candidates.values, 1e-6)) / [_REACH.get(name, 1.0) for name in candidates.names]
    squares = np.zeros((len(steps), len(steps)))
    for column in steps.T:
        squares += (column[:, None] - column[None, :]) ** 2
    return np.asarray(np.exp(-squares / 2))


def _of_failures(draws: Draws, placed: Sequence[Placed]) -> Floats:
    """ln probability of every run's end, given where the particle fails; shape (J,)."""
    total = np.zeros(len(draws.fails))
    for one in placed:
        if_fails = 1 - _PASSES_BY_CHANCE if one.failed else _PASSES_BY_CHANCE
        if_passes = _FAILS_BY_CHANCE if one.failed else 1 - _FAILS_BY_CHANCE
        total += one.count * np.log(np.where(draws.fails[:, one.row], if_fails, if_passes))
    return total


def _utilisation(well: Sequence[Placed]) -> Seen:
    """Of the GPUs, or of the CPUs when no run reports GPUs: the two are never compared with each other."""
    gpus = measured(well, lambda one: one.run.outcome.gpu_utilisation)
    return gpus if gpus.rows.size else measured(well, lambda one: one.run.outcome.cpu_utilisation)


def _noise(well: Sequence[Placed]) -> float:
    """sd of ln duration between equal runs, pooled over candidates with a prior."""
    squares, freedom = _NOISE_RUNS * _NOISE**2, _NOISE_RUNS
    for row in {one.row for one in well}:
        durations = [one.run.outcome.duration_seconds for one in well if one.row == row]
        logs = np.log([seconds for seconds in durations if seconds])
        if logs.size > 1:
            squares, freedom = squares + float(np.sum((logs - logs.mean()) ** 2)), freedom + logs.size - 1
    return float(np.sqrt(squares / freedom))


def _weights(log_likelihood: Floats) -> Floats:
    """Normalised weights, the likelihood raised to the largest power <= 1 at which enough particles count."""
    if _effective_share(_softmax(log_likelihood)) >= _LEAST_SHARE:
        return _softmax(log_likelihood)
    low, high = 0.0, 1.0
    for _ in range(20):
        power = (low + high) / 2
        low, high = (power, high) if _effective_share(_softmax(power * log_likelihood)) >= _LEAST_SHARE else (low, power)
    return _softmax(low * log_likelihood)


def _softmax(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _effective_share(weights: Floats) -> float:
    """Kish's effective sample size as a share of the particles, 0..1."""
    return float(1 / np.sum(weights**2) / len(weights))


def _counts(rows: Sequence[int], candidates: int) -> Ints:
    return np.bincount(np.array(rows, dtype=np.int64), minlength=candidates).astype(np.int64)
