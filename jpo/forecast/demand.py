"""What else is expected of a run: throughput, memory and utilisation of any configuration, from the runs that measured them.

A straight line in logs over doublings of the parameters, whose slopes are believed to lie about where training jobs have them,
and a smooth misfit around it: near the measured runs it follows them, far away it is wide. Without a measurement of a quantity
nothing is said about it: the simulator's ratios have no level. Nothing here decides anything; the belief does not know of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.measurements import Placed, Seen, measured, place
from jpo.records import Candidates, Run, RunStatus

if TYPE_CHECKING:
    from jpo.records import Bools, Floats


@dataclass(frozen=True, slots=True)
class _Quantity:
    """What is believed of one quantity before its first run.

    Attributes:
        slopes: mean and sd of the change of its natural log (of a ratio: of its log odds) with each doubling of a parameter.
        misfit: sd of what a straight line leaves.
        noise: sd between two equal runs.
        ratio: it lies in 0..1.
    """

    slopes: Mapping[str, tuple[float, float]]
    discrepancy: float
    noise: float
    ratio: bool = False


_BATCH = "batch per GPU"
_QUANTITIES: Mapping[str, _Quantity] = {
    "throughput_samples_per_second": _Quantity(
        {_BATCH: (0.25, 0.25), "gpus": (0.55, 0.25), "cpus": (0.05, 0.2), "num_layers": (-0.4, 0.4)}, discrepancy=0.3, noise=0.06
    ),
    "memory_gib": _Quantity(
        {_BATCH: (0.15, 0.15), "gpus": (0.15, 0.2), "cpus": (0.05, 0.15), "num_layers": (0.1, 0.15)}, discrepancy=0.1, noise=0.05
    ),
    "gpu_utilisation": _Quantity(
        {_BATCH: (0.3, 0.4), "gpus": (-0.2, 0.4), "cpus": (0.1, 0.3), "num_layers": (0.2, 0.4)}, 0.3, 0.25, ratio=True
    ),
    "cpu_utilisation": _Quantity(
        {_BATCH: (0.1, 0.3), "gpus": (0.4, 0.4), "cpus": (-0.6, 0.4), "num_layers": (-0.2, 0.4)}, 0.3, 0.25, ratio=True
    ),
}
"""Throughput: a step takes a + b x batch, so a doubling brings 0 to ln 2; GPUs at equal batch each bring ln 2 less what they wait
for each other (Qiao et al., "Pollux", OSDI 2021, section 3.2); a layer more is more work; CPUs matter where input is the
bottleneck (Mohan et al., "Analyzing and Mitigating Data Stalls", VLDB 2021). Memory of the host: batches on their way are a part
of it, and each GPU has a process. Utilisation: the same work on twice the CPUs keeps half the share busy; larger batches keep a
GPU busier, waiting for others less. What is not named changes none of them. The numbers are assumed, therefore wide."""
_REACH, _REACH_OF_CPUS = 1.5, 3.0
"""Over how many doublings a misfit reaches; CPUs hardly change a run that has enough. With these and the numbers above, 90%
intervals held 88 to 97% of the simulated fleet's throughput, 91 to 99% of the others."""
_NOISE_RUNS = 4.0
"""How many degrees of freedom the noise that is believed beforehand counts."""
_VAGUE = 10.0
"""Prior sd of the level, in ln: anything."""
_EDGE = 0.005
"""Ratios are squeezed by this at either end, or the log odds of 0 and 1 would know no bounds."""
_MOST = 300.0
"""Largest natural log of a forecast: it stays finite."""


@dataclass(frozen=True, eq=False, slots=True)
class Band:
    """A quantity at every candidate: its mean (of logs, as for durations) and the bounds of its 90% interval, each (K,).

    NaN where no run with GPUs, or for candidates without any none without, measured it.
    """

    mean: Floats
    low: Floats
    high: Floats


def demand(candidates: Candidates, runs: Sequence[Run]) -> dict[str, Band]:
    """Throughput, memory, GPU and CPU utilisation of one next run at every candidate; only those that some run measured.

    Args:
        runs: of this workload, in any order. Those that did not succeed are left out: a run that was killed says what it was
            given. One that did not converge counts, because it worked as fast as one that does.

    Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.7 (explicit basis functions); heavy
    tails by an unknown noise: Gelman et al., "Bayesian Data Analysis", section 14.2.
    """
    placed = [one for one in place(candidates, runs) if one.run.status is RunStatus.SUCCEEDED]
    points, equipped = _points(candidates), _equipped(candidates)
    bands = {name: np.full((3, len(equipped)), np.nan) for name in _QUANTITIES}
    for rows in (equipped, ~equipped):
        alike = [one for one in placed if rows[one.row]]
        for name, quantity in _QUANTITIES.items():
            found = _band(name, quantity, alike, points, len(equipped))
            if found is not None:
                bands[name][:, rows] = found[:, rows]
    return {name: Band(*band) for name, band in bands.items() if not np.isnan(band).all()}


def _equipped(candidates: Candidates) -> Bools:
    """Which candidates have GPUs, (K,): those without work so differently that neither says anything of the other."""
    if "gpus" not in candidates.names:
        return np.ones(len(candidates.values), dtype=np.bool_)
    return np.asarray(candidates.values[:, candidates.names.index("gpus")] > 0)


def _points(candidates: Candidates) -> dict[str, Floats]:
    """Doublings by which the candidates differ, each (K,)."""
    columns = zip(candidates.names, candidates.values.T, strict=True)
    doublings = {name: np.log2(np.where(column > 0, column, 1.0)) for name, column in columns}
    if "batch_size" in doublings:
        doublings[_BATCH] = doublings["batch_size"] - doublings.get("gpus", 0.0)
    return doublings


def _band(
    name: str, quantity: _Quantity, placed: Sequence[Placed], points: Mapping[str, Floats], candidates: int
) -> Floats | None:
    """Mean, low and high at every candidate, (3, K); None where nothing was measured."""

    def value(one: Placed) -> float | None:
        number: float | None = getattr(one.run.outcome, name)
        return _odds(number) if quantity.ratio and number is not None else number

    seen = measured(placed, value)
    if not seen.rows.size:
        return None
    known = {parameter: slope for parameter, slope in quantity.slopes.items() if parameter in points}
    doublings = np.array([points[parameter] for parameter in known]).reshape(len(known), candidates).T  # (K, F), F may be 0
    slopes = np.array(list(known.values())).reshape(len(known), 2)  # (F, 2)
    reach = np.array([_REACH_OF_CPUS if parameter == "cpus" else _REACH for parameter in known])
    noise, freedom = _noise([(one.row, number) for one in placed if (number := value(one))], quantity.noise)
    mean, deviation = _predict(seen, doublings, slopes, reach, quantity.discrepancy, noise)
    half = _student_quantile(freedom) * deviation
    return _back(np.stack((mean, mean - half, mean + half)), quantity.ratio)


def _predict(
    seen: Seen, doublings: Floats, slopes: Floats, reach: Floats, discrepancy: float, noise: float
) -> tuple[Floats, Floats]:
    """Mean and sd of the logs of one next run at every candidate, (K,) each."""
    line = doublings @ slopes[:, 0]  # (K,)
    at = doublings[seen.rows]  # (M, F)

    def alike(points: Floats, others: Floats) -> Floats:
        """Prior covariance of what is unknown: level, slopes and misfit, (N, O)."""
        squares = (((points[:, None] - others[None]) / reach) ** 2).sum(axis=2)
        return np.asarray(_VAGUE**2 + (points * slopes[:, 1] ** 2) @ others.T + discrepancy**2 * np.exp(-squares / 2))

    origin = at.mean(axis=0)  # slopes turn about the runs
    at, here = at - origin, doublings - origin
    among, across = alike(at, at) + np.diag(noise**2 / seen.count), alike(at, here)  # (M, M), (M, K)
    centre = float(np.mean(seen.mean - line[seen.rows]))
    missing = seen.mean - line[seen.rows] - centre
    root = np.linalg.cholesky(among)
    across, missing = np.split(np.linalg.solve(root, np.column_stack((across, missing))), [-1], axis=1)  # (M, K) and (M, 1)
    before = _VAGUE**2 + (here**2) @ (slopes[:, 1] ** 2) + discrepancy**2
    variance = np.maximum(before - (across**2).sum(axis=0), 0) + noise**2
    worse = max(1.0, (_NOISE_RUNS + float((missing**2).sum())) / (_NOISE_RUNS + len(missing) - 1))
    return line + centre + missing[:, 0] @ across, np.sqrt(variance * worse)


def _noise(values: Sequence[tuple[int, float]], before: float) -> tuple[float, float]:
    """sd of ln between equal runs, pooled over (row, value), with a prior; and its degrees of freedom."""
    logs: dict[int, list[float]] = {}
    for row, number in values:
        logs.setdefault(row, []).append(math.log(number))
    apart = [log - middle for ones in logs.values() for middle in [fmean(ones)] for log in ones]
    freedom = _NOISE_RUNS + len(apart) - len(logs)
    squares = _NOISE_RUNS * before**2 + sum(each**2 for each in apart)
    return math.sqrt(squares / freedom), freedom


def _student_quantile(freedom: float) -> float:
    """The 95% quantile of Student's t, within 0.5% from 4 degrees of freedom on (Abramowitz and Stegun, 26.7.5)."""
    z = NormalDist().inv_cdf(0.95)
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / freedom ** (power + 1) for power, term in enumerate(terms))


def _odds(ratio: float) -> float:
    within = _EDGE + (1 - 2 * _EDGE) * ratio
    return within / (1 - within)


def _back(logs: Floats, ratio: bool) -> Floats:
    """From logs to the quantity, from log odds to the ratio that was squeezed."""
    within = np.clip(logs, -_MOST, _MOST)
    return np.asarray(np.clip((1 / (1 + np.exp(-within)) - _EDGE) / (1 - 2 * _EDGE), 0, 1) if ratio else np.exp(within))
