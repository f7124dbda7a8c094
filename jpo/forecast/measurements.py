"""Measurements of a workload's runs, averaged per candidate: the data of the likelihood."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import median

import numpy as np

from jpo.records import SAME, Candidates, Floats, Ints, Outcome, Run, RunStatus

_HALF_LIFE = 30.0
"""Runs after which a measurement counts half: jobs drift, but slowly."""
WIDEST = 100.0
"""Natural logs beyond e^100 = 10^43 either way are no measurements, and would not stay finite when they are forecast."""
FAR, _LEAST_SCALE = 3.0, 0.03
"""Standard deviations beyond which runs that should be equal are not, and the least that one is (of ln)."""
FEWEST = 3
"""Runs of which one is told to be odd, or several to be alike: of two, either may be the odd one."""
_COMPARED_AT_ONCE = 20_000
"""Numbers: more no longer fit the processor's cache."""


class End(Enum):
    """The end of a run, by what it says about its configuration."""

    WELL = auto()
    FAILED = auto()
    MISSED = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True)
class CandidateRun:
    """A run with the row of its candidate, and how much it still counts (1 for the newest)."""

    row: int
    run: Run
    count: float

    @property
    def outcome(self) -> Outcome:
        return self.run.outcome

    @property
    def end(self) -> End:
        """The end of the run: one that was stopped from outside after a known time says only that it takes longer; so does one
        that missed its target, which brought no model besides."""
        if self.run.ended_well:
            return End.WELL
        if not self.outcome.duration_seconds:
            return End.FAILED
        if self.run.status is RunStatus.STOPPED:
            return End.STOPPED
        return End.MISSED if self.run.missed else End.FAILED


@dataclass(frozen=True, eq=False, slots=True)
class Measurements:
    """Measurements of one quantity at M candidates: rows, mean of the natural log, and effective number of runs."""

    rows: Ints
    mean: Floats
    count: Floats


NO_MEASUREMENTS = Measurements(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
"""A quantity that was not measured."""


def runs_at_candidates(candidates: Candidates, runs: Sequence[Run]) -> list[CandidateRun]:
    """Runs with the first candidate that has their parameters, newest first.

    A parameter that a run does not report had today's value; what is no column is not compared. Runs without match are left out.
    """
    ordered = sorted(runs, key=lambda run: (run.ended_at, run.run_id))
    today = candidates.parameters(candidates.current)
    vectors = [tuple([run.parameters.get(name, now) for name, now in today.items()]) for run in reversed(ordered)]
    rows = _rows_of(candidates.values, list(dict.fromkeys(vectors)))  # a thousand runs have few configurations
    return [
        CandidateRun(row, run, 0.5 ** (age / _HALF_LIFE))
        for age, (run, vector) in enumerate(zip(reversed(ordered), vectors, strict=True))
        if (row := rows[vector]) is not None
    ]


def by_end(candidate_runs: Sequence[CandidateRun]) -> dict[End, list[CandidateRun]]:
    """The runs by what their ends say, in the same order; every kind of end is there."""
    runs: dict[End, list[CandidateRun]] = {end: [] for end in End}
    for run in candidate_runs:
        runs[run.end].append(run)
    return runs


def _rows_of(values: Floats, vectors: Sequence[tuple[float, ...]]) -> dict[tuple[float, ...], int | None]:
    """The first row that agrees with each configuration, or None; many at once where there are few rows."""
    rows: dict[tuple[float, ...], int | None] = {}
    at_once = max(1, _COMPARED_AT_ONCE // max(1, values.size))
    for start in range(0, len(vectors), at_once):
        some = vectors[start : start + at_once]
        wanted = np.array(some).reshape(len(some), 1, values.shape[1])
        agree = (np.abs(values - wanted) <= SAME * np.abs(wanted)).all(axis=2)  # (configurations, K)
        found = zip(agree.any(axis=1).tolist(), agree.argmax(axis=1).tolist(), strict=True)
        rows |= {vector: first if anywhere else None for vector, (anywhere, first) in zip(some, found, strict=True)}
    return rows


def measurements_of(candidate_runs: Sequence[CandidateRun], value: Callable[[CandidateRun], float | None]) -> Measurements:
    """Means of the natural log of a quantity per candidate; runs where it is None or not positive (not measured) do not count.

    Of three or more runs, a single one far from their median counts as if it were at the edge of the others (Huber's mean).
    """
    logs: dict[int, list[tuple[float, float]]] = {}
    for run in candidate_runs:
        number = value(run)
        if number is not None and number > 0:
            logs.setdefault(run.row, []).append((_log(number), run.count))
    rows = sorted(logs)
    counts = [sum(count for _, count in logs[row]) for row in rows]
    means = [_mean(logs[row], total) for row, total in zip(rows, counts, strict=True)]
    return Measurements(np.array(rows, dtype=np.int64), np.array(means, dtype=np.float64), np.array(counts, dtype=np.float64))


def logs_by_row(runs: Sequence[CandidateRun], value: Callable[[CandidateRun], float | None]) -> dict[int, list[float]]:
    """Natural logs of a quantity, by candidate; without runs where it is None or not positive (not measured)."""
    logs: dict[int, list[float]] = {}
    for run in runs:
        if (number := value(run)) and number > 0:
            logs.setdefault(run.row, []).append(math.log(number))
    return logs


def _mean(logs: Sequence[tuple[float, float]], total: float) -> float:
    """Mean of (log, count)."""
    if len(logs) == 1:  # most of a thousand configurations ran once
        return logs[0][0] * logs[0][1] / total
    kept = within_reach([log for log, _ in logs])
    return sum(log * count for log, (_, count) in zip(kept, logs, strict=True)) / total


def within_reach(logs: Sequence[float]) -> Sequence[float]:
    """Logs of repeated runs; one that is far from the median and alone there is moved to where it is not far.

    Two that agree far away are a job that has changed, and stay.

    Source: Huber, "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 1964, here with the median
    absolute deviation as scale.
    """
    if len(logs) < FEWEST:
        return logs
    middle = median(logs)
    reach = FAR * max(1.4826 * median([abs(log - middle) for log in logs]), _LEAST_SCALE)
    if max(logs) - middle <= reach and middle - min(logs) <= reach:
        return logs
    alone = [sum(abs(log - other) <= reach for other in logs) == 1 for log in logs]
    return [min(max(log, middle - reach), middle + reach) if single else log for log, single in zip(logs, alone, strict=True)]


def _log(number: float) -> float:
    return min(max(math.log(number), -WIDEST), WIDEST) if number < math.inf else WIDEST


def lower_bounds_of(stopped: Sequence[CandidateRun], value: Callable[[CandidateRun], float | None]) -> Measurements:
    """Lower bounds of the ln of a quantity: the most that stopped runs had come to, counted once per candidate."""
    most: dict[int, float] = {}
    for run in stopped:
        if number := value(run):
            most[run.row] = max(most.get(run.row, -np.inf), _log(number))
    rows = sorted(most)
    return Measurements(np.array(rows, dtype=np.int64), np.array([most[row] for row in rows]), np.ones(len(rows)))
