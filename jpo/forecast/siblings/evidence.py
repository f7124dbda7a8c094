"""Evidence of siblings: what the same job measured on other hardware, per candidate and up to an unknown level each."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from jpo.forecast.calibration import RUNS_REMEMBERED
from jpo.forecast.discrepancy import LOSS, PRICE, TIME_TAU, UTILISATION
from jpo.forecast.evidence.duration import noise_of, seconds_of
from jpo.forecast.measurements import CandidateRun, End, Measurements, lower_bounds_of, measurements_of, runs_at_candidates
from jpo.records import Candidates, Floats, Ints, Run
from jpo.records.runs import by_workload

_MOST_FAILURES = 2.0
"""Failures of one configuration that count: repeated, they tell of the sibling's hardware, and no more of ours."""


@dataclass(frozen=True, eq=False, slots=True)
class SiblingQuantity:
    """What siblings measured of one quantity, M measurements of S siblings.

    Attributes:
        rows: shape (M,), the candidate of each.
        sibling: shape (M,), whose it is, 0..S-1. The level of each sibling is its own and unknown: only differences count.
        mean: shape (M,), natural logs.
        variance: shape (M,), of the mean, by the noise between equal runs.
        tau: sd of ln between a job and its best particle, as for own runs (discrepancy.py).
        bound_rows, bound_sibling, bound: shape (L,) each, what is at least as large: of runs that were stopped.
    """

    rows: Ints
    sibling: Ints
    mean: Floats
    variance: Floats
    tau: float
    bound_rows: Ints
    bound_sibling: Ints
    bound: Floats


@dataclass(frozen=True, eq=False, slots=True)
class SiblingEvidence:
    """Evidence of all siblings together.

    Attributes:
        log_time, log_loss, log_utilisation, log_power: the quantities of `Draws`.
        failed, passed: shape (K,), how many of their runs ended so, each counted up to two.
        siblings: their number S.
    """

    log_time: SiblingQuantity
    log_loss: SiblingQuantity
    log_utilisation: SiblingQuantity
    log_power: SiblingQuantity
    failed: Floats
    passed: Floats
    siblings: int


def by_hardware(siblings: Sequence[Run]) -> list[list[Run]]:
    """The newest runs of each sibling, oldest first."""
    by_age = [sorted(job, key=lambda run: (run.ended_at, run.run_id)) for job in by_workload(siblings).values()]
    return [job[-RUNS_REMEMBERED:] for job in by_age]


def evidence_of(candidates: Candidates, siblings: Sequence[Run]) -> SiblingEvidence | None:
    """What siblings' runs say about these candidates; None where nothing.

    `siblings`: runs of the same job on other hardware, told apart by their identity. A parameter that a run does not report had
    today's value.
    """
    jobs = [runs_at_candidates(candidates, runs) for runs in by_hardware(siblings)]
    if not any(jobs):
        return None
    rate = np.exp(candidates.log_rate)
    failures = (End.FAILED, End.MISSED)
    failed, passed = (
        np.sum([_ends(job, ends, len(candidates.values)) for job in jobs], axis=0) for ends in (failures, (End.WELL,))
    )
    return SiblingEvidence(
        log_time=_quantity(jobs, lambda run: run.outcome.duration_seconds, TIME_TAU),
        log_loss=_quantity(jobs, lambda run: run.outcome.val_loss, LOSS.tau, LOSS.noise),
        log_utilisation=_quantity(jobs, _utilisation, UTILISATION.tau, UTILISATION.noise),
        log_power=_quantity(jobs, lambda run: _watts(run, rate), PRICE.tau, PRICE.noise),
        failed=failed,
        passed=passed,
        siblings=len(jobs),
    )


def _quantity(
    jobs: Sequence[Sequence[CandidateRun]], value: Callable[[CandidateRun], float | None], tau: float, noise: float | None = None
) -> SiblingQuantity:
    """One quantity of all siblings; `noise` between equal runs, None: as their durations show it, and runs stopped are bounds."""
    measured, bounds, variance = [], [], []
    for job in jobs:
        succeeded = [run for run in job if run.end is End.WELL]
        each = measurements_of(succeeded, value)
        measured.append(each)
        variance.append((noise_of(succeeded, seconds_of) if noise is None else noise) ** 2 / each.count)
        censored = [run for run in job if run.end in (End.STOPPED, End.MISSED)] if noise is None and each.rows.size else []
        bounds.append(lower_bounds_of(censored, seconds_of))
    rows, sibling, mean = _stacked(measured)
    bound_rows, bound_sibling, bound = _stacked(bounds)
    return SiblingQuantity(rows, sibling, mean, np.concatenate(variance), tau, bound_rows, bound_sibling, bound)


def _stacked(each: Sequence[Measurements]) -> tuple[Ints, Ints, Floats]:
    """Rows, whose they are, and means."""
    whose = np.repeat(np.arange(len(each)), [one.rows.size for one in each])
    return np.concatenate([one.rows for one in each]), whose, np.concatenate([one.mean for one in each])


def _ends(job: Sequence[CandidateRun], ends: Collection[End], candidates: int) -> Floats:
    rows = [run.row for run in job if run.end in ends]
    return np.minimum(np.bincount(np.array(rows, dtype=np.int64), minlength=candidates), _MOST_FAILURES)


def _utilisation(run: CandidateRun) -> float | None:
    """Of the GPUs where they are reported, else of the CPUs."""
    gpus = run.outcome.gpu_utilisation
    return run.outcome.cpu_utilisation if gpus is None else gpus


def _watts(run: CandidateRun, rate: Floats) -> float | None:
    """Power relative to the candidates' rates, as the belief measures it (belief.py)."""
    joules, seconds = run.outcome.energy_joules, run.outcome.duration_seconds
    return joules / seconds / float(rate[run.row]) if joules and seconds else None
