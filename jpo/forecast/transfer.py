"""Transfer from other workloads: their response surfaces as polynomials, from which surfaces for a new workload are drawn.

The physics of the simulator knows ratios only: it cannot know that this kind of job usually does best with a learning rate of
0.03 and one layer. Recorded jobs can. The surfaces that come with JPO are those of tabular networks (surfaces.json names source
and licence); the jobs of a user's own history take precedence.
"""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from jpo.records import Bools, Candidates, Draws, Floats, Run, TransferredSurfaces
from jpo.records.runs import by_workload

SHIPPED = Path(__file__).with_name("surfaces.json")
DEGREE = 3
_SCALES: Mapping[str, tuple[str, float, float]] = {
    "batch_size": ("log2", 6.5, 2.5),
    "learning_rate": ("log10", -2.5, 1.5),
    "num_layers": ("linear", 3.0, 2.0),
    "epochs": ("log2", 4.6, 1.0),
    "gpus": ("log2", 1.5, 1.5),
    "cpus": ("log2", 2.5, 1.5),
    "memory_gib": ("log2", 4.0, 2.0),
}
"""Scale, centre and half width of the usual range: coordinates are about -1..1, and absolute, unlike the simulator's."""
RESIDUAL = 0.1
"""sd of ln of the residual of a recorded surface against a polynomial of this degree (measured: 0.05 to 0.2)."""
_LENGTH = 0.7
"""Length scale of the residual in these coordinates."""
_RIDGE = 0.02
"""Ridge penalty: variance of the residual relative to that of a coefficient."""
TRUST_IN_SHIPPED, TRUST_IN_OWN = 0.8, 0.9
"""Prior probability before the first run. On recorded jobs of the same kind more is better (regret after 3 runs .21 / .15 / .13
at .5 / .9 / .97); on simulated jobs of other kinds .9 made the first five runs 20% more expensive than none, and was corrected
after two."""
_WIDEST = 6.0
"""Largest natural log of any ratio, as in the simulator: a polynomial has no bounds of its own."""
MEMBERS = 300
"""Number of surfaces drawn; 800 gave the same."""


@dataclass(frozen=True, eq=False, slots=True)
class Surfaces:
    """Response surfaces of T recorded jobs over the same parameters.

    Attributes:
        names: the parameters.
        low, high: shape (P,), the recorded ranges, in coordinates.
        log_time, log_loss: shape (T, F), coefficients of natural logs, each up to a constant; NaN where never measured.
        trust: prior probability that another workload is like these.
        weights: shape (T,), in 0..1: what each job's runs say of its surface.
    """

    names: tuple[str, ...]
    low: Floats
    high: Floats
    log_time: Floats
    log_loss: Floats
    trust: float
    weights: Floats


def transfer_surfaces(surfaces: Sequence[Surfaces], candidates: Candidates, seed: int) -> TransferredSurfaces | None:
    """Surfaces drawn for these candidates; None where fewer than two were recorded over the parameters that vary among them.

    Of surfaces over several sets of parameters those count that weigh most; of equal ones the first.
    """
    varying = {name for name, column in zip(candidates.names, candidates.values.T, strict=True) if np.ptp(column) > 0}
    covering = [surface for surface in surfaces if varying <= set(surface.names) and set(surface.names) <= set(candidates.names)]
    groups = ([one for one in covering if one.names == names] for names in dict.fromkeys(one.names for one in covering))
    several = [group for group in groups if sum(int(_timed(one).sum()) for one in group) > 1]
    if not several or not varying:
        return None
    chosen = max(several, key=_weight)
    rng = np.random.default_rng((seed, 2))
    points = coordinates(candidates, chosen[0].names)
    weights = np.concatenate([surface.weights for surface in chosen])
    recorded = (np.concatenate([getattr(surface, kind) for surface in chosen]) for kind in ("log_time", "log_loss"))
    time, loss = (_drawn(coefficients, weights, points, rng) for coefficients in recorded)
    time, loss = (np.clip(surface - surface[:, [candidates.current]], -_WIDEST, _WIDEST) for surface in (time, loss))
    nothing = np.zeros_like(time)
    draws = Draws(time, loss, nothing, nothing, np.zeros(time.shape, dtype=np.bool_))
    trust = sum(surface.trust * float(surface.weights.sum()) for surface in chosen) / _weight(chosen)
    low, high = chosen[0].low, chosen[0].high
    margin = 0.1 * (high - low)
    inside = float(np.mean(((points >= low - margin) & (points <= high + margin)).all(axis=1)))
    return TransferredSurfaces(draws, trust * inside, seed)


def _timed(surfaces: Surfaces) -> Bools:
    """Which jobs have a surface of the duration, (T,)."""
    return np.asarray(np.isfinite(surfaces.log_time).all(axis=1))


def _weight(group: Sequence[Surfaces]) -> float:
    """How many jobs a group of surfaces is worth."""
    return float(sum(surface.weights[_timed(surface)].sum() for surface in group))


def _drawn(coefficients: Floats, weights: Floats, points: Floats, rng: np.random.Generator) -> Floats:
    """Normal surfaces with mean and covariance of the recorded coefficients, plus smooth residuals; shape (MEMBERS, K)."""
    measured = np.isfinite(coefficients).all(axis=1)
    recorded, weights = coefficients[measured], weights[measured]
    residual = RESIDUAL * _smooth(points, rng)
    if len(recorded) < 2:
        return residual
    portions = weights / weights.sum()
    mean = portions @ recorded
    spread = np.sqrt(portions / (1 - (portions**2).sum()))  # 1 / sqrt(T - 1) where all weigh the same
    share = rng.standard_normal((MEMBERS, len(recorded))) * spread
    return np.asarray((mean + share @ (recorded - mean)) @ basis(points).T + residual)


def _smooth(points: Floats, rng: np.random.Generator, features: int = 64) -> Floats:
    """Smooth random functions of variance 1 (Rahimi and Recht, NIPS 2007), shape (MEMBERS, K)."""
    frequencies = rng.normal(0, 1 / _LENGTH, (features, points.shape[1]))
    waves = np.sqrt(2 / features) * np.cos(frequencies @ points.T + rng.uniform(0, 2 * np.pi, (features, 1)))
    return np.asarray(rng.standard_normal((MEMBERS, features)) @ waves)


def fit_surfaces(runs: Sequence[Run], names: Sequence[str]) -> list[Surfaces]:
    """Surfaces fitted to other workloads' runs that ended well, in one `Surfaces` for all that have the given parameters.

    Ridge regression. A job that ran fewer configurations than a polynomial has coefficients gives none: it would be almost flat,
    and say of everything untried that it makes no difference (docs/decisions/0009).
    """
    wanted, terms = set(names), math.comb(len(names) + DEGREE, DEGREE)
    timed = [run for run in runs if run.ended_well and run.outcome.duration_seconds and wanted <= run.parameters.keys()]
    jobs = by_workload(timed).values()
    fitted = [_fit(job, tuple(names)) for job in jobs if len(job) > terms < len({values_of(run, names) for run in job})]
    if not fitted or not names:
        return []
    low, high = np.min([surface.low for surface in fitted], axis=0), np.max([surface.high for surface in fitted], axis=0)
    time, loss = (np.concatenate([getattr(surface, kind) for surface in fitted]) for kind in ("log_time", "log_loss"))
    return [Surfaces(tuple(names), low, high, time, loss, TRUST_IN_OWN, np.concatenate([surface.weights for surface in fitted]))]


def _fit(runs: Sequence[Run], names: tuple[str, ...]) -> Surfaces:
    points = _coordinates(np.array([values_of(run, names) for run in runs], dtype=np.float64), names)
    features = basis(points)
    seconds = np.array([run.outcome.duration_seconds for run in runs], dtype=np.float64)
    losses = np.array([run.outcome.val_loss if (run.outcome.val_loss or 0) > 0 else np.nan for run in runs], dtype=np.float64)
    time, loss = _ridge(features, np.log(seconds)), _ridge(features, np.log(losses))
    weight = 1 - features.shape[1] / len(runs)  # the share that the coefficients have not used up
    return Surfaces(names, points.min(axis=0), points.max(axis=0), time[None], loss[None], TRUST_IN_OWN, np.array([weight]))


def values_of(run: Run, names: Sequence[str]) -> tuple[float, ...]:
    return tuple(run.parameters[name] for name in names)


def _ridge(features: Floats, logs: Floats) -> Floats:
    """Coefficients, shape (F,); the constant is not shrunk and then dropped. NaN where it would not be determined."""
    measured = np.isfinite(logs)
    if measured.sum() <= features.shape[1]:
        return np.full(features.shape[1], np.nan)
    x, y = features[measured], logs[measured] - logs[measured].mean()
    penalty = _RIDGE * np.eye(x.shape[1])
    penalty[0, 0] = 0.0
    coefficients = np.linalg.lstsq(x.T @ x + penalty, x.T @ y, rcond=None)[0]
    coefficients[0] = 0.0
    return np.asarray(coefficients)


def basis(points: Floats) -> Floats:
    """The polynomial basis, all products of up to DEGREE coordinates: (N, P) -> (N, F), the constant first."""
    chosen = (c for degree in range(DEGREE + 1) for c in itertools.combinations_with_replacement(range(points.shape[1]), degree))
    return np.stack([np.prod(points[:, columns], axis=1) for columns in chosen], axis=1)


def coordinates(candidates: Candidates, names: Sequence[str]) -> Floats:
    """The candidates as points, shape (K, P)."""
    columns = [candidates.names.index(name) for name in names]
    return _coordinates(candidates.values[:, columns], names)


def _coordinates(values: Floats, names: Sequence[str]) -> Floats:
    points = np.empty_like(values)
    for i, name in enumerate(names):
        scale, centre, width = _SCALES[name]
        column = values[:, i]
        logarithm = {"log2": np.log2, "log10": np.log10}.get(scale)
        points[:, i] = ((column if logarithm is None else logarithm(np.maximum(column, 1e-9))) - centre) / width
    return np.clip(points, -2.5, 2.5)  # a polynomial means nothing beyond


@cache
def shipped_surfaces() -> Surfaces:
    """The surfaces that come with JPO."""
    document = json.loads(SHIPPED.read_text(encoding="utf-8"))
    arrays = {name: np.array(document[name], dtype=np.float64) for name in ("low", "high", "log_time", "log_loss")}
    return Surfaces(tuple(document["names"]), **arrays, trust=TRUST_IN_SHIPPED, weights=np.ones(len(arrays["log_time"])))
