"""Demand of a run: throughput, memory, utilisation and power of any configuration, forecast from the runs that measured them.

A straight line in logs over doublings of the parameters, with a prior on its slopes from usual training jobs, plus a smooth
discrepancy: close to the measured runs the forecast follows them, far away it is wide. A quantity that no run measured has no
forecast: the simulator's ratios have no level. The belief does not use any of it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from jpo.forecast.discrepancy import REACH
from jpo.forecast.ensemble import VAGUE
from jpo.forecast.evidence.duration import NOISE_RUNS
from jpo.forecast.measurements import (
    WIDEST,
    CandidateRun,
    Measurements,
    logs_by_row,
    measurements_of,
    runs_at_candidates,
    within_reach,
)
from jpo.records import HALF_WIDTH, Candidates, Floats, Run, RunStatus


@dataclass(frozen=True, slots=True)
class _QuantityPrior:
    """The prior of one quantity, before its first measurement.

    Attributes:
        slopes: mean and standard deviation (sd) of the change of its ln (a ratio: of its log odds) per doubling of a parameter.
        discrepancy: sd of what a straight line does not explain.
        noise: sd between two equal runs.
        ratio: whether its values are in 0..1.
    """

    slopes: Mapping[str, tuple[float, float]]
    discrepancy: float
    noise: float
    ratio: bool = False


_BATCH = "batch per GPU"
_QUANTITIES: Mapping[str, _QuantityPrior] = {
    "throughput_samples_per_second": _QuantityPrior(
        {_BATCH: (0.25, 0.25), "gpus": (0.55, 0.25), "cpus": (0.05, 0.2), "num_layers": (-0.4, 0.4)}, discrepancy=0.3, noise=0.06
    ),
    "memory_gib": _QuantityPrior(
        {
            _BATCH: (0.15, 0.15),
            "gpus": (0.15, 0.2),
            "cpus": (0.05, 0.15),
            "num_layers": (0.1, 0.15),
            **dict.fromkeys(("num_workers", "workers", "n_workers", "dataloader_workers", "loader_workers"), (0.2, 0.2)),
        },
        discrepancy=0.1,
        noise=0.05,
    ),
    "gpu_utilisation": _QuantityPrior(
        {_BATCH: (0.3, 0.4), "gpus": (-0.2, 0.4), "cpus": (0.1, 0.3), "num_layers": (0.2, 0.4)}, 0.3, 0.25, ratio=True
    ),
    "cpu_utilisation": _QuantityPrior(
        {_BATCH: (0.1, 0.3), "gpus": (0.4, 0.4), "cpus": (-0.6, 0.4), "num_layers": (-0.2, 0.4)}, 0.3, 0.25, ratio=True
    ),
}
"""Throughput: a step takes a + b x batch, so a doubling brings 0 to ln 2; GPUs at equal batch each bring ln 2 less what they
wait for each other (Qiao et al., "Pollux", OSDI 2021, section 3.2); a layer more is more work; CPUs matter where input is the
bottleneck (Mohan et al., "Analyzing and Mitigating Data Stalls", VLDB 2021). Memory of the host: batches on their way are a
part of it, and each GPU has a process, as each worker that loads data has, where a team declares how many. Utilisation: the
same work on twice the CPUs keeps half the share busy; larger batches keep a GPU busier, waiting for others less. What is not
named changes none of them. The numbers are assumed, therefore wide."""
_EDGE = 0.005
"""Ratios are squeezed by this at either end, or the log odds of 0 and 1 would be infinite."""


@dataclass(frozen=True, eq=False, slots=True)
class Band:
    """A quantity at every candidate: its mean (of logs, as for durations) and the bounds of its 90% interval, each (K,).

    NaN for candidates with GPUs where no run with GPUs measured it, and likewise for those without.
    """

    mean: Floats
    low: Floats
    high: Floats

    def p_above(self, limit: Floats) -> Floats:
        """Chance that one run takes more than a limit, which is no ratio, shape (K,); 0 where there is no forecast or limit."""
        with np.errstate(invalid="ignore"):
            sd = np.log(self.high / self.low) / (2 * HALF_WIDTH)
            beyond = np.log(limit / self.mean) / sd  # in sd
        return np.array([0.5 * math.erfc(z / math.sqrt(2)) if math.isfinite(z) else 0.0 for z in beyond.tolist()])


def demand(candidates: Candidates, runs: Sequence[Run]) -> dict[str, Band]:
    """Throughput, memory, GPU and CPU utilisation of one next run at every candidate; only those that some run measured.

    `runs`: of this workload, in any order. Those that did not succeed are left out: the memory of a killed run is its limit. One
    that did not converge counts, because it worked as fast as one that does.

    Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, section 2.7 (explicit basis functions); heavy
    tails by an unknown noise: Gelman et al., "Bayesian Data Analysis", section 14.2.
    """
    candidate_runs = [run for run in runs_at_candidates(candidates, runs) if run.run.status is RunStatus.SUCCEEDED]
    points, equipped = _points(candidates), np.ones(len(candidates.values), dtype=np.bool_)
    if "gpus" in candidates.names:  # without GPUs runs work so differently that neither kind says anything about the other
        equipped = candidates.values[:, candidates.names.index("gpus")] > 0
    bands = {name: np.full((3, len(equipped)), np.nan) for name in _QUANTITIES}
    for rows in (equipped, ~equipped):
        alike = [run for run in candidate_runs if rows[run.row]]
        for name, quantity in _QUANTITIES.items():
            band = _band(name, quantity, alike, points, len(equipped))
            if band is not None:
                bands[name][:, rows] = band[:, rows]
    return {name: Band(*band) for name, band in bands.items() if not np.isnan(band).all()}


def _points(candidates: Candidates) -> dict[str, Floats]:
    """Coordinates of the candidates in doublings, by parameter, each (K,)."""
    columns = zip(candidates.names, candidates.values.T, strict=True)
    doublings = {name: np.log2(np.where(column > 0, column, 1.0)) for name, column in columns}
    if "batch_size" in doublings:
        doublings[_BATCH] = doublings["batch_size"] - doublings.get("gpus", 0.0)
    return doublings


def _band(
    name: str, quantity: _QuantityPrior, candidate_runs: Sequence[CandidateRun], points: Mapping[str, Floats], candidates: int
) -> "Floats | None":
    """Mean, low and high at every candidate, (3, K); None where nothing was measured."""

    def value(run: CandidateRun) -> float | None:
        number: float | None = getattr(run.outcome, name)
        if not quantity.ratio or number is None:
            return number
        within = _EDGE + (1 - 2 * _EDGE) * number
        return within / (1 - within)  # odds

    measurements = measurements_of(candidate_runs, value)
    if not measurements.rows.size:
        return None
    named = {parameter: slope for parameter, slope in quantity.slopes.items() if parameter in points}
    doublings = np.array([points[parameter] for parameter in named]).reshape(len(named), candidates).T  # (K, F), F may be 0
    slopes = np.array(list(named.values())).reshape(len(named), 2)  # (F, 2)
    reach = np.array([REACH.get(parameter, 1.0) for parameter in named])
    noise, freedom = _noise(logs_by_row(candidate_runs, value), quantity.noise)
    mean, deviation = _predict(measurements, doublings, slopes, reach, quantity.discrepancy, noise)
    half = _student_quantile(freedom) * deviation
    within = np.clip(np.stack((mean, mean - half, mean + half)), -WIDEST, WIDEST)
    if not quantity.ratio:
        return np.asarray(np.exp(within))
    return np.asarray(np.clip((1 / (1 + np.exp(-within)) - _EDGE) / (1 - 2 * _EDGE), 0, 1))


def _predict(
    measurements: Measurements, doublings: Floats, slopes: Floats, reach: Floats, discrepancy: float, noise: float
) -> tuple[Floats, Floats]:
    """Mean and sd of the log of one next run at every candidate, (K,) each."""
    line = doublings @ slopes[:, 0]  # (K,)
    at = doublings[measurements.rows]  # (M, F)

    def alike(points: Floats, others: Floats) -> Floats:
        """Prior covariance of the unknowns: level, slopes and discrepancy, (N, O)."""
        squares = (((points[:, None] - others[None]) / reach) ** 2).sum(axis=2)
        return np.asarray(VAGUE**2 + (points * slopes[:, 1] ** 2) @ others.T + discrepancy**2 * np.exp(-squares / 2))

    origin = at.mean(axis=0)  # slopes turn about the runs
    at, everywhere = at - origin, doublings - origin
    among, across = alike(at, at) + np.diag(noise**2 / measurements.count), alike(at, everywhere)  # (M, M), (M, K)
    centre = float(np.mean(measurements.mean - line[measurements.rows]))
    missing = measurements.mean - line[measurements.rows] - centre
    root = np.linalg.cholesky(among)
    across, missing = np.split(np.linalg.solve(root, np.column_stack((across, missing))), [-1], axis=1)  # (M, K) and (M, 1)
    before = VAGUE**2 + (everywhere**2) @ (slopes[:, 1] ** 2) + discrepancy**2
    variance = np.maximum(before - (across**2).sum(axis=0), 0) + noise**2
    worse = max(1.0, (NOISE_RUNS + float((missing**2).sum())) / (NOISE_RUNS + len(missing) - 1))
    return line + centre + missing[:, 0] @ across, np.sqrt(variance * worse)


def _noise(logs: Mapping[int, Sequence[float]], before: float) -> tuple[float, float]:
    """Standard deviation of ln between equal runs, pooled over rows with a prior, and its degrees of freedom."""
    near = [within_reach(repeats) for repeats in logs.values()]
    apart = [log - middle for repeats in near for middle in [fmean(repeats)] for log in repeats]
    freedom = NOISE_RUNS + len(apart) - len(logs)
    squares = NOISE_RUNS * before**2 + sum(each**2 for each in apart)
    return math.sqrt(squares / freedom), freedom


def _student_quantile(freedom: float) -> float:
    """The 95% quantile of Student's t, within 0.5% from 4 degrees of freedom on (Abramowitz and Stegun, 26.7.5)."""
    z = HALF_WIDTH
    terms = ((z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return z + sum(term / freedom ** (power + 1) for power, term in enumerate(terms))


def power_watts(candidates: Candidates, runs: Sequence[Run], relative: "Floats | None" = None) -> Floats:
    """Mean electric power at every candidate, (K,): of its own runs, else by GPU count from all runs, since the meters are on the
    GPUs; NaN where no run measured energy. Where no run has GPUs, a candidate without own runs has the mean of all.

    `relative`: natural log of the power that is believed of the candidates, (K,), in any unit; takes the place of the GPU count.
    """
    outcomes = [(run.row, run.outcome) for run in runs_at_candidates(candidates, runs)]
    measured = [(row, outcome) for row, outcome in outcomes if outcome.energy_joules is not None and outcome.duration_seconds]
    rows, count = np.array([row for row, _ in measured], dtype=np.int64), len(candidates.values)
    joules, seconds = (
        np.bincount(rows, weights=[getattr(outcome, name) for _, outcome in measured], minlength=count)
        for name in ("energy_joules", "duration_seconds")
    )
    gpus = candidates.values[:, candidates.names.index("gpus")] if "gpus" in candidates.names else np.ones(count)
    size = np.exp(relative) if relative is not None else gpus if (seconds * gpus).any() else np.ones(count)
    with np.errstate(invalid="ignore", over="ignore"):  # 0 / 0: no run measured it
        everywhere = joules[size > 0].sum() / (seconds * size).sum() * size
        return np.where(seconds > 0, joules / seconds, everywhere)
