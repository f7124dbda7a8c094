"""Rows of a candidate set: which one a configuration or a run is, what it is called, and which train the same model."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from jpo.records import RESOURCES, SAME, Bools, Candidates, Floats, Ints, Parameters, Run
from jpo.wording import numbers


def least(values: Floats, rows: Bools) -> int:
    """Of these rows, shape (K,), the one of least value."""
    return int(np.argmin(np.where(rows, values, np.inf)))


def name_of(candidates: Candidates, row: int) -> str:
    """Name of a row, by what differs from today: "batch_size 128, gpus 2"."""
    now, there = candidates.parameters(candidates.current), candidates.parameters(row)
    changed = (f"{name} {numbers.plain(value)}" for name, value in there.items() if value != now[name])
    return ", ".join(changed) or "today's configuration"


@lru_cache(maxsize=1)
def models_of(candidates: Candidates) -> Ints:
    """A number for each model that rows train, shape (K,): rows that differ in hardware alone train the same."""
    at = [i for i, name in enumerate(candidates.names) if name not in RESOURCES]
    return np.unique(candidates.values[:, at], axis=0, return_inverse=True)[1].reshape(-1)


def logs_of(candidates: Candidates) -> Floats:
    """Natural logs of all values, (K, P); 0, as GPUs may be, is far from any other value."""
    return np.log(np.maximum(candidates.values, 1e-9))


def nearest(candidates: Candidates, goal: int, rows: Bools, expected: Floats) -> int:
    """Of these rows, (K,), the one nearest to another by the ratios of its values; of equally near ones the one of least cost."""
    logs = logs_of(candidates)
    return int(np.lexsort((expected, np.abs(logs - logs[goal]).sum(axis=1), ~rows))[0])


def base_row(candidates: Candidates, reference: int | None) -> int:
    """Row against whose validation loss a model is worse: the values before the agent's first change, or (None) today's."""
    return candidates.current if reference is None else reference


def rate_between(candidates: Candidates, run: Run, reference: Run) -> float:
    """Natural log of the price per hour of a run's configuration relative to another's."""
    return float(candidates.log_rate[row_of_run(candidates, run)] - candidates.log_rate[row_of_run(candidates, reference)])


def row_of_run(candidates: Candidates, run: Run) -> int:
    """The row of a run's configuration, which must be there."""
    return int(rows_of_run(candidates, run)[0])


def rows_of_run(candidates: Candidates, run: Run) -> Ints:
    """Rows of a run's configuration; what the run did not report had today's value."""
    return rows_of(candidates, {**candidates.parameters(candidates.current), **run.parameters})


def row_of(candidates: Candidates, values: Parameters) -> int:
    """The row with these values, which must be there."""
    return int(rows_of(candidates, values)[0])


def rows_of_runs(candidates: Candidates, runs: Sequence[Run]) -> Ints:
    """The first row of each run's configuration, shape (R,), -1 where there is none."""
    today = candidates.parameters(candidates.current)
    wanted = np.array([[run.parameters.get(name, now) for name, now in today.items()] for run in runs], dtype=np.float64)
    alike = np.ones((len(runs), len(candidates.values)), dtype=np.bool_)
    for values, column in zip(candidates.values.T, wanted.reshape(len(runs), len(today)).T, strict=True):
        alike &= np.abs(values - column[:, None]) <= SAME * np.abs(column[:, None])
    return np.where(alike.any(axis=1), alike.argmax(axis=1), -1)


def rows_of(candidates: Candidates, values: Parameters) -> Ints:
    wanted = [values[name] for name in candidates.names]
    return np.flatnonzero((np.abs(candidates.values - wanted) <= SAME * np.abs(wanted)).all(axis=1))
