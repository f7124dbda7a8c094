"""Rows of a candidate set: which one a configuration or a run is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jpo.records import SAME, Parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jpo.records import Candidates, Ints, Run


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
    """Rows with these values."""
    wanted = [values[name] for name in candidates.names]
    return np.flatnonzero((np.abs(candidates.values - wanted) <= SAME * np.abs(wanted)).all(axis=1))
