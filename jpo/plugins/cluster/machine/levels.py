"""Levels: processors sorted by a number that jobs change, e.g. what is free there, so that none but fitting ones are looked at.

Processors of one level are the bits of a whole number, the first in order the lowest bit. What is asked costs the same on ten
nodes and on a thousand; what a job changes is sorted anew when somebody asks.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Literal

from jpo.plugins.cluster.machine.occupancy import Occupancy

Level = Callable[[Occupancy, int], float]
Way = Literal["in order", "upwards", "downwards"]


class FreeLevels:
    def __init__(self, state: Occupancy, order: Sequence[int], level: Level) -> None:
        """`order`: the processors, the first in a tie first; `level`: of a processor, as the state is by then."""
        self._state, self._order, self._level = state, order, level
        self._bit = {place: 1 << at for at, place in enumerate(order)}
        self._on: dict[int, list[int]] = {}
        self._now: dict[int, float] = {}
        self._bits: dict[float, int] = {}
        self._levels: list[float] = []  # those that some processor has, sorted
        for place in order:
            self._on.setdefault(state.node[place], []).append(place)
            self._now[place] = level(state, place)
            self._enter(place, self._now[place])
        self._changed = state.watch()

    def _enter(self, place: int, level: float) -> None:
        if level not in self._bits:
            insort(self._levels, level)
            self._bits[level] = 0
        self._bits[level] |= self._bit[place]

    def _refresh(self) -> None:
        """Sort anew what lies on nodes where something has changed."""
        state, level, now, bits = self._state, self._level, self._now, self._bits
        for node in self._changed:
            for place in self._on.get(node, ()):
                new, old = level(state, place), now[place]
                if new != old:
                    bits[old] ^= self._bit[place]
                    if not bits[old]:
                        del bits[old], self._levels[bisect_left(self._levels, old)]
                    now[place] = new
                    self._enter(place, new)
        self._changed.clear()

    def walk(self, least: float, way: Way) -> Iterator[int]:
        """The processors whose level is not below `least`; up- or downwards by level, in their order among equals."""
        if self._changed:
            self._refresh()
        levels, bits = self._levels[bisect_left(self._levels, least) :], self._bits
        if way == "in order":
            return self._each([reduce(or_, [bits[level] for level in levels], 0)])
        return self._each([bits[level] for level in (levels if way == "upwards" else reversed(levels))])

    def _each(self, parts: Iterable[int]) -> Iterator[int]:
        order = self._order
        for bits in parts:
            while bits:
                lowest = bits & -bits
                yield order[lowest.bit_length() - 1]
                bits ^= lowest
