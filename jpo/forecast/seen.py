"""What the runs of a workload measured at the candidates, averaged per candidate: the data of the likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.records import SAME, Candidates, Run

if TYPE_CHECKING:
    from jpo.records import Floats, Ints

_HALF_LIFE = 30.0
"""Runs after which an observation counts half: jobs drift, but slowly."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A run at its candidate, and how much it still counts (1 for the newest)."""

    row: int
    run: Run
    count: float

    @property
    def failed(self) -> bool:
        return not self.run.ended_well


@dataclass(frozen=True, eq=False, slots=True)
class Seen:
    """One quantity at the M candidates where it was measured: rows, mean of its natural log, and effective number of runs."""

    rows: Ints
    mean: Floats
    count: Floats


def place(candidates: Candidates, runs: Sequence[Run]) -> list[Placed]:
    """Each run at the first candidate with its parameters, newest first.

    A parameter which a run does not report had today's value; one that is no column of the candidates is not compared. Runs that
    match no candidate are left out.
    """
    ordered = sorted(runs, key=lambda run: (run.ended_at, run.run_id))
    placed = []
    for age, run in enumerate(reversed(ordered)):
        vector = [run.parameters.get(name, now) for name, now in candidates.parameters(candidates.current).items()]
        matches = np.flatnonzero(np.isclose(candidates.values, vector, rtol=SAME, atol=0.0).all(axis=1))
        if matches.size:
            placed.append(Placed(int(matches[0]), run, 0.5 ** (age / _HALF_LIFE)))
    return placed


def measured(placed: Sequence[Placed], value: Callable[[Placed], float | None]) -> Seen:
    """Average the natural logs of a quantity per candidate; runs where it is None or not positive (not measured) do not count."""
    logs: dict[int, list[tuple[float, float]]] = {}
    for one in placed:
        number = value(one)
        if number is not None and number > 0:
            logs.setdefault(one.row, []).append((float(np.log(number)), one.count))
    rows = sorted(logs)
    counts = [sum(count for _, count in logs[row]) for row in rows]
    means = [sum(log * count for log, count in logs[row]) / total for row, total in zip(rows, counts, strict=True)]
    return Seen(np.array(rows, dtype=np.int64), np.array(means, dtype=np.float64), np.array(counts, dtype=np.float64))
