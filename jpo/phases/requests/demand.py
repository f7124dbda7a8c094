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
FIRST_POSITIONS = 64
"""For which there is room before any sample."""


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

    def at(self, rows: Ints | Bools | slice) -> Positions:
        """Some of them."""
        return Positions(*(getattr(self, name)[rows] for name in NAMES))


NAMES = tuple(field.name for field in fields(Positions))


def join(parts: Sequence[Positions]) -> Positions:
    """Positions of several executions as one."""
    return Positions(*(np.concatenate([getattr(part, name) for part in parts]) for name in NAMES))


class Past:
    """The positions of a course as it goes on: those with a known future, and where it stands now."""

    def __init__(self, horizon_seconds: float, most: int = 0) -> None:
        """`most`: of how many, at least, the newest are kept; 0: all."""
        self._horizon, self._most = horizon_seconds, most
        self._n, self._open = 0, 0  # samples, and the first of them whose horizon has not passed
        room = min(FIRST_POSITIONS, 2 * most) if most else FIRST_POSITIONS
        self._times, self._arrays = np.zeros(room), _no_positions(room)

    def add(self, time: float, need: Floats, phase: int) -> None:
        """One more sample, which is the future of those before it."""
        if self._n == len(self._times):
            self._make_room()
        n, at = self._n, self._arrays
        goes_on = n > 0 and bool(at.phase[n - 1] == phase)
        if n:
            while self._open < n - 1 and self._times[self._open] + self._horizon < time:
                self._open += 1
            soon = slice(self._open, n)
            np.maximum(at.soon_need[soon], need, out=at.soon_need[soon])
            at.soon_stays[soon] &= at.phase[soon] == phase
            at.next_need[n - 1], at.next_stays[n - 1] = need, goes_on
        self._times[n], at.phase[n] = time, phase
        at.dwell_seconds[n] = at.dwell_seconds[n - 1] + time - self._times[n - 1] if goes_on else 0.0
        at.level[n] = np.maximum(at.level[n - 1], need) if goes_on else need
        at.next_need[n] = at.soon_need[n] = 0.0
        at.next_stays[n] = at.soon_stays[n] = True
        self._n = n + 1

    def _make_room(self) -> None:
        """Forget the oldest where not all are kept, or take twice the room."""
        full = self._most and self._n >= 2 * self._most
        first = self._n - self._most if full else 0
        kept, room = slice(first, self._n), 2 * self._most if full else min(2 * self._n, 2 * self._most or 2 * self._n)
        times, arrays = np.zeros(room), _no_positions(room)
        times[: self._n - first] = self._times[kept]
        for name in NAMES:
            getattr(arrays, name)[: self._n - first] = getattr(self._arrays, name)[kept]
        self._times, self._arrays = times, arrays
        self._n, self._open = self._n - first, max(0, self._open - first)

    @property
    def here(self) -> tuple[int, float, Floats]:
        """Phase, dwell time and level of the last sample."""
        at, last = self._arrays, self._n - 1
        return int(at.phase[last]), float(at.dwell_seconds[last]), at.level[last].copy()

    def positions(self) -> Positions:
        """Those with a future: all but the last sample."""
        return self._arrays.at(slice(0, self._n - 1))


def _no_positions(room: int) -> Positions:
    """Room for as many, of which nothing is known."""
    one, both = np.zeros(room), (room, RESOURCES)
    stays = np.ones(room, dtype=bool)
    return Positions(np.zeros(room, np.int64), one, np.zeros(both), np.zeros(both), stays, np.zeros(both), stays.copy())


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
    """What may be needed: of each resource sorted, with cumulated weights, shapes (2, n): quantiles of it are looked up."""

    sorted_needs: Floats
    cumulated: Floats

    def quantiles(self, levels: Floats) -> Floats:
        """Needs of CPU and memory, each at its own level; shape (2,)."""
        at = [cumulated.searchsorted(q * cumulated[-1]) for cumulated, q in zip(self.cumulated, levels, strict=True)]
        last = self.sorted_needs.shape[1] - 1
        return np.array([needs[min(each, last)] for needs, each in zip(self.sorted_needs, at, strict=True)])


class Futures:
    """Futures of the positions in one phase, ready to be carried over to the level of the run that asks.

    Args:
        positions: in any phases.
        resolution_seconds: dwell times that differ by less are alike.
        least: shape (2,), below which levels are alike.
    """

    def __init__(self, positions: Positions, phase: int, resolution_seconds: float, least: Floats) -> None:
        rows = np.flatnonzero(positions.phase == phase)
        self.resolution_seconds, self.least = resolution_seconds, least
        at_least = max(float(least[1]), 1.0)  # a byte: nothing has no factor
        cores, memory = positions.level[rows].T
        memory = np.maximum(memory, at_least)
        self.log_dwell = np.log(positions.dwell_seconds[rows] + resolution_seconds)  # (n,)
        self.stays = np.empty((2, len(rows)), dtype=np.bool_)  # (next and soon, n)
        self.carried = np.empty((2, RESOURCES, len(rows)))  # cores, memory: against the level where the phase goes on
        for at, (needs, stays) in enumerate(
            ((positions.next_need, positions.next_stays), (positions.soon_need, positions.soon_stays))
        ):
            self.stays[at] = stays[rows]
            self.carried[at] = needs[rows].T
            np.subtract(self.carried[at, 0], cores, out=self.carried[at, 0], where=self.stays[at])
            np.maximum(self.carried[at, 1], at_least, out=self.carried[at, 1], where=self.stays[at])
            np.divide(self.carried[at, 1], memory, out=self.carried[at, 1], where=self.stays[at])


_FOUR = np.arange(2 * RESOURCES)[:, None]


def expect(dwell_seconds: float, level: Floats, known: Sequence[Futures]) -> tuple[Likely, Likely] | None:
    """What may be needed next, and at most within the horizon; None where no position is like this one.

    Futures that stayed in the phase are carried over to this run's level, CPU by a difference, memory by a factor.

    Args:
        level: shape (2,), the most that was used since the phase began.
        known: futures of positions in this phase, of training and of the own past.
    """
    least, resolution_seconds = known[0].least, known[0].resolution_seconds
    log_dwell = np.concatenate([futures.log_dwell for futures in known])
    weights = np.exp(((log_dwell - np.log(dwell_seconds + resolution_seconds)) / ALIKE_DWELL) ** 2 * -0.5)
    if not weights.sum() > 1e-6:
        return None
    stays = np.concatenate([futures.stays for futures in known], axis=1)
    carried = np.concatenate([futures.carried for futures in known], axis=2)  # (next and soon, 2, n)
    np.add(carried[:, 0], level[0], out=carried[:, 0], where=stays)
    np.multiply(carried[:, 1], max(float(level[1]), float(least[1]), 1.0), out=carried[:, 1], where=stays)
    rows = carried.reshape(4, -1)
    orders = rows.argsort(axis=1)
    cumulated = weights[orders].cumsum(axis=1).reshape(carried.shape)
    carried = rows[_FOUR, orders].reshape(carried.shape)
    return Likely(carried[0], cumulated[0]), Likely(carried[1], cumulated[1])
