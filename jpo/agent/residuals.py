"""Residuals of the jobs that ran here: by how much they took longer, or failed more often, than simulated jobs do.

A single job's residual is its own; where job after job misses to the same side, the installation differs from what the simulator
thinks (little host memory, slow loaders, slow links, small GPUs), and the next job will miss as well. The belief, which weighs
simulated jobs, cannot say what none of them does.

Source: hierarchical Gaussian process, a surface of the installation plus one of each job; Rasmussen and Williams, "Gaussian
Processes for Machine Learning", 2006, section 2.7, and Gelman et al., "Bayesian Data Analysis", chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.rows import row_of_run
from jpo.records import Residuals, RunStatus

if TYPE_CHECKING:
    from jpo.records import Belief, Bools, Candidates, Floats, Run

MOVES = ("batch_size", "gpus", "cpus", "memory_gib", "learning_rate", "num_layers", "epochs")
"""Parameters in whose doublings against the reference the residuals are placed."""
COORDINATES = (*MOVES, "batch per GPU", "CPUs per GPU", "memory per sample", "several GPUs")
MOST = 400
"""Newest configurations that count: the cost grows with the cube of their number."""
_SMALLEST = 1e-6
_SHARED, _SHARED_SLOPE, _LENGTH = 0.3, 0.1, 2.0
"""Installation's surface: sd of its bends, of its slope per doubling, and the length scale in doublings."""
"""The same of the surface of failures, in probability."""
_FEWEST_FAILS = 0.05
"""Least probability of an end that the simulated jobs find impossible: crashes, and what they do not know."""
_NOISE = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class ResidualForecast:
    """What the residuals say of candidates, shape (K,) each, relative to the reference row, where they are 0.

    Attributes:
        log_time: natural log of the duration that an average simulated job would have, corrected by the residuals.
        shift, shift_sd: the correction, and its standard deviation.
        p_fail: probability of failing, corrected.
        excess, excess_sd: its correction, and the standard deviation.
        jobs: how many jobs the residuals come from.
    """

    log_time: Floats
    shift: Floats
    shift_sd: Floats
    p_fail: Floats
    excess: Floats
    excess_sd: Floats
    jobs: int


def coordinates(candidates: Candidates) -> Floats:
    """Coordinates of the candidates, shape (K, len(COORDINATES)): doublings against today's row, 0 for what is no column."""
    columns = dict(zip(candidates.names, candidates.values.T, strict=True))
    nothing = np.zeros(len(candidates.values))

    def doublings(name: str) -> Floats:
        if name not in columns:
            return nothing
        log2 = np.log2(np.maximum(columns[name], _SMALLEST))
        return np.asarray(log2 - log2[candidates.current])

    moves = {name: doublings(name) for name in MOVES}
    several = nothing if "gpus" not in columns else (columns["gpus"] > 1).astype(np.float64)
    ratios = (
        moves["batch_size"] - moves["gpus"],
        moves["cpus"] - moves["gpus"],
        moves["memory_gib"] - moves["batch_size"],
        2 * (several - several[candidates.current]),
    )
    return np.clip(np.stack((*moves.values(), *ratios), axis=1), -8.0, 8.0)


def residuals_of_job(name: str, candidates: Candidates, prior: Belief, runs: Sequence[Run]) -> Residuals | None:
    """Residuals of one job; None where it ran one configuration only, or never ended well at its reference.

    Args:
        name: of the job.
        candidates: all that it ran, the reference as current row.
        prior: belief about them before any run.
        runs: oldest first.
    """
    ended: dict[int, list[float]] = {}
    failures: dict[int, int] = {}
    for run in runs:
        row, seconds = row_of_run(candidates, run), run.outcome.duration_seconds
        if run.ended_well and seconds:
            ended.setdefault(row, []).append(math.log(seconds))
        elif run.status is not RunStatus.STOPPED:
            failures[row] = failures.get(row, 0) + 1
    rows = np.array(sorted({*ended, *failures} - {candidates.current}), dtype=np.int64)
    if candidates.current not in ended or not rows.size:
        return None
    reference = fmean(ended[candidates.current])
    expected, sd = prior_moments(prior)
    taken = np.array([fmean(ended[row]) - reference if row in ended else np.nan for row in rows])
    failed = np.array([failures.get(row, 0) / (failures.get(row, 0) + len(ended.get(row, ()))) for row in rows])
    chance = prior.weights @ prior.fails
    job = np.zeros(len(rows), dtype=np.int64)
    return Residuals((name,), job, coordinates(candidates)[rows], taken - expected[rows], sd[rows], failed, chance[rows])


def joined(parts: Sequence[Residuals]) -> Residuals:
    """Residuals of several jobs as one record, the newest MOST configurations; the parts come oldest first."""
    names = tuple(dict.fromkeys(name for part in parts for name in part.workloads))
    jobs = [np.array([names.index(name) for name in part.workloads], dtype=np.int64)[part.job] for part in parts]
    arrays = {
        f.name: np.concatenate([getattr(part, f.name) for part in parts])[-MOST:]
        for f in fields(Residuals)
        if f.name not in ("workloads", "job")
    }
    return Residuals(workloads=names, job=np.concatenate(jobs)[-MOST:], **arrays)


def residual_forecast(residuals: Residuals, candidates: Candidates, prior: Belief) -> ResidualForecast:
    """What the residuals of other jobs say of these candidates.

    Args:
        prior: belief about the candidates before any run, with the reference as current row.
    """
    points = coordinates(candidates)
    expected, _ = prior_moments(prior)
    timed = np.isfinite(residuals.log_time)
    shift, shift_sd = _regression(residuals, timed, residuals.log_time, residuals.sd, points)
    chance = np.sqrt(residuals.p_fail * (1 - residuals.p_fail) + _FEWEST_FAILS)
    every = np.ones(len(timed), dtype=np.bool_)
    excess, excess_sd = _regression(residuals, every, residuals.failed - residuals.p_fail, chance, points)
    p_fail = np.clip(prior.weights @ prior.fails + excess, 0.0, 1.0)
    return ResidualForecast(expected + shift, shift, shift_sd, p_fail, excess, excess_sd, len(residuals.workloads))


def prior_moments(prior: Belief) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the log time of simulated jobs at every candidate, (K,) each."""
    mean = prior.weights @ prior.log_time
    return mean, np.sqrt(np.maximum(prior.weights @ prior.log_time**2 - mean**2, 0.0))


def _regression(residuals: Residuals, rows: Bools, values: Floats, own_sd: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Posterior mean and sd of the installation's surface at some points, (K,) each, from residuals `values` at `rows`.

    Each job's own surface is as wide as simulated jobs differ there (`own_sd`), and alike where its configurations are.
    """
    x, y, sd, job = residuals.points[rows], values[rows], own_sd[rows], residuals.job[rows]
    prior = _shared(points, points, diagonal=True)
    if not len(x):
        return np.zeros(len(points)), np.sqrt(prior)
    alike = np.exp(-_squares(x, x) / 2) * np.outer(sd, sd) * (job[:, None] == job[None])
    among = _shared(x, x) + alike + _NOISE**2 * np.eye(len(x))
    across = _shared(x, points)
    root = np.linalg.cholesky(among + 1e-6 * np.eye(len(x)))
    solved = np.linalg.solve(root, np.column_stack((across, y)))
    across, missing = solved[:, :-1], solved[:, -1]
    return missing @ across, np.sqrt(np.maximum(prior - (across**2).sum(axis=0), 0.0))


def _squares(a: Floats, b: Floats) -> Floats:
    """Squared distances in length scales, (N, O)."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T
    return np.asarray(np.maximum(squares, 0.0) / _LENGTH**2)


def _shared(a: Floats, b: Floats, *, diagonal: bool = False) -> Floats:
    """Prior covariance of the installation's surface, which is 0 at the reference (the origin): (N, O), or its diagonal (N,)."""
    to_a, to_b = np.exp(-(a**2).sum(axis=1) / 2 / _LENGTH**2), np.exp(-(b**2).sum(axis=1) / 2 / _LENGTH**2)
    if diagonal:
        return np.asarray(_SHARED**2 * (2 - 2 * to_a) + _SHARED_SLOPE**2 * (a**2).sum(axis=1))
    bends = np.exp(-_squares(a, b) / 2) - to_a[:, None] - to_b[None] + 1
    return np.asarray(_SHARED**2 * bends + _SHARED_SLOPE**2 * a @ b.T)
