"""What a container will need soon, from where it stands: the futures of positions like it, in training and in its own past.

A position is a sample with its phase and how long the phase lasts already. Each knows what was needed at the next sample, and
at most within the horizon, which is how long an allocation has to hold. Futures that stayed in the phase are carried over to
the level of the run that asks: memory by a factor, CPU by a difference, as features are scaled. Futures that left it count as
they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from jpo.phases.chain import Ints
from jpo.phases.traces import Floats, Traces

Bools = NDArray[np.bool_]
RESOURCES = 2
"""CPU in cores and memory in bytes, in this order, wherever something is allocated."""
ALIKE_DWELL = 0.4
"""Width of the kernel over the natural log of the dwell time: positions half as long or twice as long in a phase count little."""
MOST_POSITIONS = 400
"""Of each phase, evenly taken: quantiles need no more, and a decision stays below a millisecond."""


@dataclass(frozen=True, eq=False, slots=True)
class Positions:
    """Positions with their futures; n of them.

    Attributes:
        phase: shape (n,).
        dwell_seconds: shape (n,), since the phase began.
        level: shape (n, 2), the most that was used since the phase began.
        next_need, next_stays: shapes (n, 2) and (n,), what the next sample used, and whether the phase went on.
        soon_need, soon_stays: the same of all samples within the horizon, at least of the next one.
    """

    phase: Ints
    dwell_seconds: Floats
    level: Floats
    next_need: Floats
    next_stays: Bools
    soon_need: Floats
    soon_stays: Bools

    def __len__(self) -> int:
        return len(self.phase)

    def at(self, rows: Ints | Bools) -> Positions:
        """Some of them."""
        return Positions(*(getattr(self, field.name)[rows] for field in fields(self)))


def join(parts: Sequence[Positions]) -> Positions:
    """Positions of several executions as one."""
    return Positions(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Positions)))


class Past:
    """The positions of a course as it goes on: those with a known future, and where it stands now."""

    def __init__(self, horizon_seconds: float, most: int = 0) -> None:
        """`most`: how many positions are kept; 0: all."""
        self._horizon, self._most = horizon_seconds, most
        self._times, self._needs = np.zeros(0), np.zeros((0, RESOURCES))
        self._phases = np.zeros(0, dtype=np.int64)
        self._dwell, self._level = np.zeros(0), np.zeros((0, RESOURCES))
        self._next, self._soon = np.zeros((0, RESOURCES)), np.zeros((0, RESOURCES))
        self._next_stays, self._soon_stays = np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)

    def add(self, time: float, need: Floats, phase: int) -> None:
        """One more sample, which is the future of those before it."""
        if len(self._times):
            soon = self._times + self._horizon >= time
            soon[-1] = True
            self._soon[soon] = np.maximum(self._soon[soon], need)
            self._soon_stays[soon] &= self._phases[soon] == phase
            self._next[-1], self._next_stays[-1] = need, self._phases[-1] == phase
        goes_on = bool(len(self._phases)) and self._phases[-1] == phase
        dwell = self._dwell[-1] + time - self._times[-1] if goes_on else 0.0
        level = np.maximum(self._level[-1], need) if goes_on else need
        self._times, self._phases = np.append(self._times, time), np.append(self._phases, phase)
        self._dwell, self._level = np.append(self._dwell, dwell), np.vstack([self._level, level])
        nothing = np.zeros((1, RESOURCES))
        self._next, self._soon = np.vstack([self._next, nothing]), np.vstack([self._soon, nothing])
        self._next_stays, self._soon_stays = np.append(self._next_stays, True), np.append(self._soon_stays, True)
        if self._most and len(self._times) > 2 * self._most:
            self._forget()

    def _forget(self) -> None:
        for name in ("_times", "_phases", "_dwell", "_level", "_next", "_soon", "_next_stays", "_soon_stays"):
            setattr(self, name, getattr(self, name)[-self._most :].copy())

    @property
    def here(self) -> tuple[int, float, Floats]:
        """Phase, dwell time and level of the last sample."""
        return int(self._phases[-1]), float(self._dwell[-1]), self._level[-1]

    def positions(self) -> Positions:
        """Those with a future: all but the last sample."""
        return Positions(
            self._phases[:-1],
            self._dwell[:-1],
            self._level[:-1],
            self._next[:-1],
            self._next_stays[:-1],
            self._soon[:-1],
            self._soon_stays[:-1],
        )


def positions_of(traces: Traces, phases: Ints, horizon_seconds: float) -> Positions:
    """All positions of executions that have ended: what `Past` would say of each, at once.

    Args:
        traces: the first two features are CPU and memory.
        phases: shape (samples,), execution after execution.
    """
    needs, lengths = traces.stacked()[:, :RESOURCES], traces.lengths
    times = np.concatenate([course.times for course in traces.courses])
    execution = np.repeat(np.arange(len(lengths)), lengths)
    n = len(times)
    begins = np.r_[True, (execution[1:] != execution[:-1]) | (phases[1:] != phases[:-1])]
    stay = np.cumsum(begins) - 1
    dwell = times - times[np.flatnonzero(begins)][stay]
    level = np.concatenate([np.maximum.accumulate(part) for part in np.split(needs, np.flatnonzero(begins)[1:])])
    soon, soon_stays = np.zeros((n, RESOURCES)), np.ones(n, dtype=bool)
    next_need, next_stays = np.zeros((n, RESOURCES)), np.ones(n, dtype=bool)
    for offset in range(1, max(lengths)):
        follows = execution[offset:] == execution[:-offset]
        within = follows & ((times[offset:] - times[:-offset] <= horizon_seconds) | (offset == 1))
        if not within.any():
            break
        at = np.flatnonzero(within)
        soon[at] = np.maximum(soon[at], needs[at + offset])
        soon_stays[at] &= phases[at + offset] == phases[at]
        if offset == 1:
            next_need[at], next_stays[at] = needs[at + 1], phases[at + 1] == phases[at]
    return Positions(phases, dwell, level, next_need, next_stays, soon, soon_stays)


def thinned(positions: Positions) -> Positions:
    """At most MOST_POSITIONS of each phase, evenly taken."""
    rows = [np.flatnonzero(positions.phase == phase) for phase in np.unique(positions.phase)]
    return positions.at(np.concatenate([row[:: -(-len(row) // MOST_POSITIONS)] for row in rows]))


@dataclass(frozen=True, eq=False, slots=True)
class Likely:
    """What may be needed, sorted, with cumulated weights: quantiles of it are looked up."""

    sorted_needs: tuple[Floats, ...]
    cumulated: tuple[Floats, ...]

    def quantile(self, resource: int, q: Floats) -> Floats:
        """Needs of a resource at the levels q, in their shape."""
        cumulated, needs = self.cumulated[resource], self.sorted_needs[resource]
        at = np.searchsorted(cumulated, q * cumulated[-1])
        quantiles: Floats = needs[np.minimum(at, len(needs) - 1)]
        return quantiles


def expect(
    here: tuple[int, float, Floats], known: Sequence[Positions], resolution_seconds: float, least: Floats
) -> tuple[Likely, Likely] | None:
    """What may be needed next, and at most within the horizon; None where no position is like this one.

    Args:
        here: phase, dwell time and level.
        known: positions of training and of the own past.
        resolution_seconds: dwell times that differ by less are alike.
        least: shape (2,), below which levels are alike.
    """
    phase, dwell, level = here
    like = [positions.at(positions.phase == phase) for positions in known]
    found = join(like)
    away = np.log((found.dwell_seconds + resolution_seconds) / (dwell + resolution_seconds)) / ALIKE_DWELL
    weights = np.exp(-0.5 * away**2)
    if not weights.sum() > 1e-6:
        return None
    return (
        _likely(found.next_need, found.next_stays, found.level, level, least, weights),
        _likely(found.soon_need, found.soon_stays, found.level, level, least, weights),
    )


def _likely(needs: Floats, stays: Bools, levels: Floats, level: Floats, least: Floats, weights: Floats) -> Likely:
    """Futures carried over to this run's level where they stayed in the phase."""
    cpu = level[0] + needs[:, 0] - levels[:, 0]
    at_least = max(float(least[1]), 1.0)  # a byte: nothing has no factor
    memory = np.maximum(level[1], at_least) * np.maximum(needs[:, 1], at_least) / np.maximum(levels[:, 1], at_least)
    carried = np.where(stays[:, None], np.stack([cpu, memory], axis=1), needs)
    orders = np.argsort(carried, axis=0)
    return Likely(
        tuple(carried[orders[:, resource], resource] for resource in range(RESOURCES)),
        tuple(np.cumsum(weights[orders[:, resource]]) for resource in range(RESOURCES)),
    )
