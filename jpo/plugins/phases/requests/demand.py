"""What a container will need soon, from where it stands: the futures of positions like it, in training and in its own past.

A position is a sample with its phase and how long the phase lasts already. Each knows what was needed at the next sample, and
at most within the horizon, which is how long an allocation has to hold. Futures that stayed in the phase are carried over to
the level of the run that asks: memory by a factor, CPU by a difference, as features are scaled. Futures that left it count as
they were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.traces import Floats, Traces

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

    def at(self, rows: Ints | Bools | slice) -> "Positions":
        return Positions(*(getattr(self, name)[rows] for name in NAMES))


NAMES = tuple(field.name for field in fields(Positions))


def join(parts: Sequence[Positions]) -> Positions:
    return Positions(*(np.concatenate([getattr(part, name) for part in parts]) for name in NAMES))


class Past:
    """The positions of an execution as it goes on: those with a known future, and where it stands now.

    `samples`: those that are kept; the last one has no future, and behind it there is nothing.
    """

    def __init__(self, horizon_seconds: float, most: int = 0) -> None:
        """`most`: of how many, at least, the newest are kept; 0: all."""
        self.forgotten = 0
        self._horizon, self._most = horizon_seconds, most
        self._n, self._open = 0, 0  # samples, and the first of them whose horizon has not passed
        room = min(FIRST_POSITIONS, 2 * most) if most else FIRST_POSITIONS
        self._times, self.samples = np.zeros(room), _no_positions(room)

    def add(self, time: float, need: Floats, phase: int) -> None:
        """One more sample, which is the future of those before it."""
        if self._n == len(self._times):
            self._make_room()
        n, at = self._n, self.samples
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
            getattr(arrays, name)[: self._n - first] = getattr(self.samples, name)[kept]
        self._times, self.samples = times, arrays
        self._n, self._open = self._n - first, max(0, self._open - first)
        self.forgotten += first

    @property
    def here(self) -> tuple[int, float, Floats]:
        """Phase, dwell time and level of the last sample."""
        at, last = self.samples, self._n - 1
        return int(at.phase[last]), float(at.dwell_seconds[last]), at.level[last].copy()

    def __len__(self) -> int:
        return self._n

    @property
    def settled(self) -> int:
        """How many of them, from the first on, no later sample can change."""
        return min(self._open, self._n - 1)


def _no_positions(room: int) -> Positions:
    """Room for as many, of which nothing is known."""
    one, both = np.zeros(room), (room, RESOURCES)
    stays = np.ones(room, dtype=bool)
    return Positions(np.zeros(room, np.int64), one, np.zeros(both), np.zeros(both), stays, np.zeros(both), stays.copy())


def positions_of(traces: Traces, phases: Ints, horizon_seconds: float) -> Positions:
    """All positions of executions that have ended: what `Past` would say of each, at once. First features: CPU and memory."""
    needs, lengths, times = traces.stacked[:, :RESOURCES], traces.lengths, traces.times
    execution = np.repeat(np.arange(len(lengths)), lengths)
    n = len(times)
    begins = np.r_[True, (execution[1:] != execution[:-1]) | (phases[1:] != phases[:-1])]
    stay = np.cumsum(begins) - 1
    dwell = times - times[np.flatnonzero(begins)][stay]
    level, offset = needs.copy(), 1
    while len(at := np.flatnonzero(stay[offset:] == stay[:-offset])):  # the most of 2, 4, 8 ... samples of a stay
        level[at + offset] = np.maximum(level[at + offset], level[at])
        offset *= 2
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
    rows = [np.flatnonzero(positions.phase == phase) for phase in np.flatnonzero(np.bincount(positions.phase))]
    return positions.at(np.concatenate([row[:: -(-len(row) // MOST_POSITIONS)] for row in rows]))


class Likely:
    """What may be needed: quantiles of CPU and memory are looked up, and sorted for where one is.

    `needs`: shape (2, n), of each resource; `weights`: shape (n,), how much each counts; `total`: their sum.
    """

    def __init__(self, needs: Floats, weights: Floats, total: float) -> None:
        self._needs, self._weights, self._total = needs, weights, total
        self._ordered: list[tuple[Ints, Floats] | None] = [None] * RESOURCES  # the order, and weights cumulated in it

    def quantile(self, resource: int, level: float) -> float:
        """The need of a resource at a level in 0..1."""
        ordered = self._ordered[resource]
        if ordered is None:
            order: Ints = self._needs[resource].argsort()
            ordered = self._ordered[resource] = order, self._weights[order].cumsum()
        order, cumulated = ordered
        at = min(int(cumulated.searchsorted(level * cumulated[-1])), len(order) - 1)
        return float(self._needs[resource, order[at]])

    def is_within(self, resource: int, level: float, need: float) -> bool:
        """Whether the need at a level is not above this one; faster than the quantile."""
        if self._ordered[resource] is not None:
            return self.quantile(resource, level) <= need
        return bool(self._weights @ (self._needs[resource] <= need) >= level * self._total)


class Futures:
    """Futures of the positions in one phase, ready to be carried over to the level of the run that asks; more may come.

    Dwell times that differ by less than the resolution are alike, and levels below `least`, shape (2,).
    """

    def __init__(self, positions: Positions, phase: int, resolution_seconds: float, least: Floats) -> None:
        self.resolution_seconds, self.least = resolution_seconds, least
        self._kept = self._n = 0
        self._log_dwell = np.empty(0)
        self._stays = np.empty((2, 0), dtype=np.bool_)  # (next and soon, n)
        self._carried = np.empty((2, RESOURCES, 0))  # cores, memory: against the level where the phase goes on
        self.add(positions, np.flatnonzero(positions.phase == phase))

    def __len__(self) -> int:
        return self._n

    def add(self, positions: Positions, rows: Ints, last: int = 0) -> None:
        """More futures, of some positions, in place of those that were for now; the `last` ones of them are for now."""
        begin, n = self._kept, self._kept + len(rows)
        if n > len(self._log_dwell):
            self._make_room(2 * n)
        at_least = max(float(self.least[1]), 1.0)  # a byte: nothing has no factor
        level = positions.level[rows].T
        needs = np.array((positions.next_need[rows].T, positions.soon_need[rows].T))  # (next and soon, 2, rows)
        against = np.array((needs[:, 0] - level[0], np.maximum(needs[:, 1], at_least) / np.maximum(level[1], at_least)))
        stays = self._stays[:, begin:n]
        stays[0], stays[1] = positions.next_stays[rows], positions.soon_stays[rows]
        self._carried[..., begin:n] = np.where(stays[:, None], against.swapaxes(0, 1), needs)
        self._log_dwell[begin:n] = np.log(positions.dwell_seconds[rows] + self.resolution_seconds)
        self._kept, self._n = n - last, n

    def _make_room(self, room: int) -> None:
        kept = self._kept
        log_dwell, stays, carried = np.empty(room), np.empty((2, room), dtype=np.bool_), np.empty((2, RESOURCES, room))
        log_dwell[:kept], stays[:, :kept] = self._log_dwell[:kept], self._stays[:, :kept]
        carried[..., :kept] = self._carried[..., :kept]
        self._log_dwell, self._stays, self._carried = log_dwell, stays, carried

    def forget(self, first: int) -> None:
        self._kept = self._n = first

    def at(self, dwell_seconds: float, level: Floats) -> tuple[Likely, Likely] | None:
        """What may be needed next, and at most within the horizon; None where no position is like this one.

        Futures that stayed in the phase are carried over to this run's level, the most that was used since the phase began,
        shape (2,): CPU by a difference, memory by a factor.
        """
        n = self._n
        weights = self._log_dwell[:n] - np.log(dwell_seconds + self.resolution_seconds)
        weights /= ALIKE_DWELL
        weights *= weights
        weights *= -0.5
        np.exp(weights, out=weights)
        total = float(weights.sum())
        if not total > 1e-6:
            return None
        carried, stays = self._carried[..., :n].copy(), self._stays[:, :n]  # (next and soon, 2, n)
        np.add(carried[:, 0], level[0], out=carried[:, 0], where=stays)
        np.multiply(carried[:, 1], max(float(level[1]), float(self.least[1]), 1.0), out=carried[:, 1], where=stays)
        return Likely(carried[0], weights, total), Likely(carried[1], weights, total)
