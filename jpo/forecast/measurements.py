"""What the runs of a workload measured at the candidates, averaged per candidate: the data of the likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

import numpy as np

from jpo.records import SAME, Candidates, Run, RunStatus

if TYPE_CHECKING:
    from jpo.records import Floats, Ints

_HALF_LIFE = 30.0
"""Runs after which an observation counts half: jobs drift, but slowly."""


_WIDEST = 100.0
"""Natural logs beyond e^100 = 10^43 either way are no measurements, and would not stay finite when they are forecast."""


class End(Enum):
    """What a run's end says about its configuration."""

    WELL = auto()
    FAILED = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True)
class Placed:
    """A run at its candidate, and how much it still counts (1 for the newest)."""

    row: int
    run: Run
    count: float

    @property
    def end(self) -> End:
        """How it ended: a run stopped from outside after a known time says only that it takes longer."""
        if self.run.ended_well:
            return End.WELL
        return End.STOPPED if self.run.status is RunStatus.STOPPED and self.run.outcome.duration_seconds else End.FAILED


@dataclass(frozen=True, eq=False, slots=True)
class Seen:
    """One quantity at the M candidates where it was measured: rows, mean of its natural log, and effective number of runs."""

    rows: Ints
    mean: Floats
    count: Floats


NOWHERE = Seen(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
"""A quantity that was not measured."""


def place(candidates: Candidates, runs: Sequence[Run]) -> list[Placed]:
    """Each run at the first candidate with its parameters, newest first.

    A parameter which a run does not report had today's value; one that is no column of the candidates is not compared. Runs that
    match no candidate are left out.
    """
    ordered = sorted(runs, key=lambda run: (run.ended_at, run.run_id))
    today = candidates.parameters(candidates.current)
    rows: dict[tuple[float, ...], int | None] = {}  # a thousand runs have few configurations
    placed = []
    for age, run in enumerate(reversed(ordered)):
        vector = tuple(run.parameters.get(name, now) for name, now in today.items())
        if vector not in rows:
            wanted = np.array(vector)
            matches = np.flatnonzero((np.abs(candidates.values - wanted) <= SAME * np.abs(wanted)).all(axis=1))
            rows[vector] = int(matches[0]) if matches.size else None
        row = rows[vector]
        if row is not None:
            placed.append(Placed(row, run, 0.5 ** (age / _HALF_LIFE)))
    return placed


def measured(placed: Sequence[Placed], value: Callable[[Placed], float | None]) -> Seen:
    """Average the natural logs of a quantity per candidate; runs where it is None or not positive (not measured) do not count."""
    logs: dict[int, list[tuple[float, float]]] = {}
    for one in placed:
        number = value(one)
        if number is not None and number > 0:
            logs.setdefault(one.row, []).append((_log(number), one.count))
    rows = sorted(logs)
    counts = [sum(count for _, count in logs[row]) for row in rows]
    means = [sum(log * count for log, count in logs[row]) / total for row, total in zip(rows, counts, strict=True)]
    return Seen(np.array(rows, dtype=np.int64), np.array(means, dtype=np.float64), np.array(counts, dtype=np.float64))


def _log(number: float) -> float:
    return min(max(math.log(number), -_WIDEST), _WIDEST) if number < math.inf else _WIDEST


def at_least(stopped: Sequence[Placed]) -> Seen:
    """The longest time, as its natural log, after which a run was stopped at each candidate, counted once."""
    longest: dict[int, float] = {}
    for one in stopped:
        seconds = one.run.outcome.duration_seconds
        assert seconds
        longest[one.row] = max(longest.get(one.row, -np.inf), _log(seconds))
    rows = sorted(longest)
    return Seen(np.array(rows, dtype=np.int64), np.array([longest[row] for row in rows]), np.ones(len(rows)))
