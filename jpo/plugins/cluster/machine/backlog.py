"""Backlog: the waiting jobs by what they need, so that those alone are looked at of whom one may start now.

Jobs that need the same, of one class of models, get the same processors and the same speed there. Of many such jobs the one that
may go before its turn is found by its requested time.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jpo.plugins.cluster.machine.occupancy import Need
from jpo.plugins.cluster.machine.simulation import Simulation


@dataclass(slots=True)
class Alike:
    """Waiting jobs that need the same.

    `wanted`: GPUs, or CPU cores where none is needed, of a job. number: of the kind. `ranks`: in the queue, sorted; requested:
    the seconds of each of them; lengths: the same, sorted.
    """

    need: Need
    wanted: int
    number: int
    ranks: list[int] = field(default_factory=list)
    requested: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)

    def come(self, rank: int, requested: float) -> None:
        place = bisect_left(self.ranks, rank)
        self.ranks.insert(place, rank)
        self.requested.insert(place, requested)
        insort(self.lengths, requested)

    def go(self, rank: int) -> None:
        place = bisect_left(self.ranks, rank)
        requested = self.requested[place]
        del self.ranks[place], self.requested[place], self.lengths[bisect_left(self.lengths, requested)]

    def first_from(self, rank: int) -> int | None:
        """The first of them from a rank on."""
        place = bisect_left(self.ranks, rank)
        return self.ranks[place] if place < len(self.ranks) else None

    def first_that_ends(self, rank: int, now: float, speed: float, until: float) -> int | None:
        """The first of them from a rank on that would end by a moment if it started now at a speed."""
        if now + self.lengths[0] / speed > until:
            return None
        for place in range(bisect_left(self.ranks, rank), len(self.ranks)):
            if now + self.requested[place] / speed <= until:
                return self.ranks[place]
        return None


class Backlog:
    """All waiting jobs, by their ranks in the order of the queue."""

    def __init__(self, simulation: Simulation) -> None:
        kinds: dict[tuple[int, str], Alike] = {}
        self._requested = simulation.requested
        self.of: list[Alike] = []  # by job
        for need, name in zip(simulation.need, simulation.classes, strict=True):
            kind = kinds.get((id(need), name))
            if kind is None:
                wanted = need.tasks * (need.gpus or need.cpus)
                kind = kinds[id(need), name] = Alike(need, wanted, len(kinds))
            self.of.append(kind)
        # Kinds of which somebody waits, those for CPU cores and those for GPUs, the least wanted first: (wanted, number), kind
        self._waiting: tuple[list[tuple[int, int, Alike]], list[tuple[int, int, Alike]]] = ([], [])

    def come(self, job: int, rank: int) -> None:
        kind = self.of[job]
        if not kind.ranks:
            insort(self._waiting[kind.need.gpus > 0], (kind.wanted, kind.number, kind))
        kind.come(rank, self._requested[job])

    def go(self, job: int, rank: int) -> None:
        kind = self.of[job]
        kind.go(rank)
        if not kind.ranks:
            kinds = self._waiting[kind.need.gpus > 0]
            del kinds[bisect_left(kinds, (kind.wanted, kind.number, kind))]

    def want_at_most(self, left: Sequence[int]) -> Iterator[Alike]:
        """The kinds of which somebody waits that want no more than so many CPU cores, or GPUs; nobody comes or goes meanwhile."""
        for kinds, most in zip(self._waiting, left, strict=True):
            for wanted, _, kind in kinds:
                if wanted > most:
                    break
                yield kind
