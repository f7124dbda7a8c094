"""Residuals of the jobs that ran here: by how much they took longer, or failed more often, than simulated jobs do.

Where job after job misses to the same side, the installation differs from what the simulator thinks (little host memory, slow
loaders, slow links, small GPUs), and the next job will miss as well: the belief, which weighs simulated jobs, cannot say so.

Source: hierarchical Gaussian process, a surface of the installation plus one of each job; Rasmussen and Williams, "Gaussian
Processes for Machine Learning", 2006, section 2.7, and Gelman et al., "Bayesian Data Analysis", chapter 5.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean

import numpy as np

from jpo.agent.candidate_rows import row_of_run
from jpo.records import Belief, Bools, Candidates, Draws, Floats, Residuals, Run, RunStatus

MOVES = ("batch_size", "gpus", "cpus", "memory_gib", "learning_rate", "num_layers", "epochs")
"""Parameters in whose doublings against the reference the residuals are placed."""
NODES = (1, 2, 4)
"""Numbers of GPUs beyond which links may be slow."""
COORDINATES = (*MOVES, "batch per GPU", "CPUs per GPU", "memory per sample", *(f"more than {node} GPUs" for node in NODES))
MOST = 400
"""Newest configurations that count: the cost grows with the cube of their number."""
_SMALLEST, _WIDEST, _FARTHEST = 1e-6, 6.0, 8.0
_LENGTH = 2.0
"""Length scale of the surfaces in doublings."""
_SLOPE = 1 / 3
"""Slope of the installation's surface per doubling, relative to the size of its bends."""
_SIZES = (0.0, 0.1, 0.25, 0.5)
"""Sizes that the installation's surface may have: sd of its bends, in natural logs and in probability of failing."""
_PRIOR = (0.4, 0.2, 0.2, 0.2)
"""Their probabilities before any job: most installations are as simulated."""
_FEWEST_FAILS = 0.05
_CHANCE = 0.15
"""Variance of an end that simulated jobs find certain: one job's failure may be its own, or a crash."""
_NOISE = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class ResidualForecast:
    """What the residuals say of candidates, shape (K,) each, 0 at the reference.

    Attributes:
        shift, shift_sd: by how much ln duration exceeds that of simulated jobs, and its standard deviation.
        excess: by how much the probability of failing does.
        jobs: how many jobs the residuals come from.
    """

    shift: Floats
    shift_sd: Floats
    excess: Floats
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
    gpus = columns.get("gpus", nothing)
    ratios = (
        moves["batch_size"] - moves["gpus"],
        moves["cpus"] - moves["gpus"],
        moves["memory_gib"] - moves["batch_size"],
        *(1.0 * (gpus > node) - (gpus[candidates.current] > node) for node in NODES),
    )
    return np.asarray(np.clip(np.stack((*moves.values(), *ratios), axis=1), -_FARTHEST, _FARTHEST))


def residuals_of_job(name: str, candidates: Candidates, prior: Belief, runs: Sequence[Run]) -> Residuals | None:
    """Residuals of one job; None where it ran one configuration only, or never ended well at its reference.

    Args:
        candidates: all that it ran, the reference as current row; `prior`: belief about them before any run.
        runs: oldest first.
    """
    ended: dict[int, list[float]] = {}
    failures: dict[int, int] = {}
    for run in runs:
        row, seconds = row_of_run(candidates, run), run.outcome.duration_seconds
        if run.ended_well and seconds:
            ended.setdefault(row, []).append(math.log(seconds))
        elif not run.ended_well and run.status is not RunStatus.STOPPED:
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


def joined(several: Iterable[Residuals | None]) -> Residuals | None:
    """Residuals of several jobs as one record, the newest MOST configurations; the parts come oldest first. None where none says
    anything."""
    parts = [part for part in several if part is not None]
    if not parts:
        return None
    names = tuple(dict.fromkeys(name for part in parts for name in part.workloads))
    jobs = [np.array([names.index(name) for name in part.workloads], dtype=np.int64)[part.job] for part in parts]
    columns = [f.name for f in fields(Residuals) if f.name not in ("workloads", "job")]
    arrays = {name: np.concatenate([getattr(part, name) for part in parts])[-MOST:] for name in columns}
    return Residuals(workloads=names, job=np.concatenate(jobs)[-MOST:], **arrays)


def residual_forecast(residuals: Residuals, candidates: Candidates) -> ResidualForecast:
    """What the residuals of other jobs say of these candidates, whose current row is the reference."""
    points = coordinates(candidates)
    timed = np.isfinite(residuals.log_time)
    shift, shift_sd = _surface(residuals, timed, residuals.log_time, residuals.sd, points)
    every = np.ones(len(timed), dtype=np.bool_)
    chance = np.sqrt(residuals.p_fail * (1 - residuals.p_fail) + _CHANCE)
    excess, _ = _surface(residuals, every, residuals.failed - residuals.p_fail, chance, points)
    return ResidualForecast(shift, shift_sd, excess, len({*residuals.job.tolist()}))


def bent(draws: Draws, forecast: ResidualForecast, seed: int) -> Draws:
    """Simulated jobs as they would be here: slower or faster, and failing more or less often, as the residuals say.

    How far a job goes along with the installation is drawn once per job, so that a run of it says it of all its configurations.
    """
    rng = np.random.default_rng((seed, 4))
    along, luck = rng.standard_normal((len(draws.fails), 1)), rng.random((len(draws.fails), 1))
    p_fail = draws.fails.mean(axis=0)
    more = luck < np.clip(forecast.excess / np.maximum(1 - p_fail, _FEWEST_FAILS), 0, 1)
    less = luck < np.clip(-forecast.excess / np.maximum(p_fail, _FEWEST_FAILS), 0, 1)
    log_time = np.clip(draws.log_time + forecast.shift + along * forecast.shift_sd, -_WIDEST, _WIDEST)
    speed = draws.log_throughput
    slowed = None if speed is None else speed - (log_time - draws.log_time)  # the work stays
    return replace(draws, log_time=log_time, log_throughput=slowed, fails=(draws.fails & ~less) | more)


def prior_moments(prior: Belief) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the log time of simulated jobs at every candidate, (K,) each."""
    mean = prior.weights @ prior.log_time
    return mean, np.sqrt(np.maximum(prior.weights @ prior.log_time**2 - mean**2, 0.0))


def _surface(residuals: Residuals, rows: Bools, values: Floats, own_sd: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Mean and sd of the installation's surface at some points, (K,) each, from residuals `values` at `rows`.

    Each job's own surface is as wide as simulated jobs differ there (`own_sd`), and alike where its configurations are. Sizes of
    the installation's surface count as they explain the residuals: none, where jobs differ from each other alone.
    """
    x, y, sd, job = residuals.points[rows], values[rows], own_sd[rows], residuals.job[rows]
    own = np.exp(-_squares(x, x) / 2) * np.outer(sd, sd) * (job[:, None] == job[None])
    own[np.diag_indices_from(own)] += _NOISE**2
    among, across, squares = _shared(x, x), _shared(x, points), (points**2).sum(axis=1)
    before = 2 - 2 * np.exp(-squares / _LENGTH**2 / 2) + _SLOPE**2 * squares  # the diagonal of _shared(points, points)
    evidence, means, variances = [], [], []
    for size in _SIZES:
        root = np.linalg.cholesky(size**2 * among + own)
        solved = np.linalg.solve(root, np.column_stack((size**2 * across, y)))
        reach, missing = solved[:, :-1], solved[:, -1]
        evidence.append(-missing @ missing / 2 - np.log(np.diag(root)).sum())
        means.append(missing @ reach)
        variances.append(np.maximum(size**2 * before - (reach**2).sum(axis=0), 0.0))
    weights = np.exp(np.array(evidence) - max(evidence)) * _PRIOR
    weights /= weights.sum()
    mean = weights @ np.array(means)
    return mean, np.sqrt(weights @ (np.array(variances) + (np.array(means) - mean) ** 2))


def _squares(a: Floats, b: Floats) -> Floats:
    """Squared distances in length scales, (N, O)."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T
    return np.asarray(np.maximum(squares, 0.0) / _LENGTH**2)


def _shared(a: Floats, b: Floats) -> Floats:
    """Prior covariance of the installation's surface of size 1, which is 0 at the reference (the origin), (N, O)."""
    origin = np.zeros((1, a.shape[1]))
    bends = np.exp(-_squares(a, b) / 2) - np.exp(-_squares(a, origin) / 2) - np.exp(-_squares(origin, b) / 2) + 1
    return np.asarray(bends + _SLOPE**2 * a @ b.T)
