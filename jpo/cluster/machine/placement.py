"""Resource selection: which processors a job gets. Task by task, each where the key is smallest among processors that it fits.

A key looks at a processor and the node that it is in, as both are by then. Ties go to the first in the platform.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from jpo.cluster.machine.occupancy import Holding, Need, Occupancy

ResourceKey = Callable[[Occupancy, int], float]


def first(state: Occupancy, place: int) -> float:
    """In the order of the platform."""
    return 0.0


def high_gflops(state: Occupancy, place: int) -> float:
    """The fastest cores."""
    return -state.types[place].speed


def low_power(state: Occupancy, place: int) -> float:
    """The cores that draw least."""
    return state.types[place].watts


def high_cores(state: Occupancy, place: int) -> float:
    """The processor with most free cores."""
    return -state.free[place]


def high_mem(state: Occupancy, place: int) -> float:
    """The node with most free memory."""
    return -state.memory[state.node[place]]


def high_mem_bw(state: Occupancy, place: int) -> float:
    """The processor with most memory bandwidth left."""
    return -state.bandwidth[place]


def free_on_node(state: Occupancy, place: int) -> float:
    """Free cores of the processor's kind on its node: best fit has the fewest."""
    return state.free[place] if state.is_gpu[place] else state.free_cpus[state.node[place]]


def most_free_on_node(state: Occupancy, place: int) -> float:
    """Worst fit."""
    return -free_on_node(state, place)


STEADY: Mapping[str, ResourceKey] = {"first": first, "high_gflops": high_gflops, "low_power": low_power}
"""Keys that no job changes: as many tasks as fit are put on a processor at once."""
CHANGING: Mapping[str, ResourceKey] = {
    "high_cores": high_cores,
    "high_mem": high_mem,
    "high_mem_bw": high_mem_bw,
    "best_fit": free_on_node,
    "worst_fit": most_free_on_node,
    "spread": most_free_on_node,
    "pack": free_on_node,
}
RESOURCES = (*STEADY, *CHANGING, "random")
"""Every resource selection by its name."""


class Placement:
    """A resource selection on a platform.

    pack: on as few nodes as possible: one that holds the whole job if there is one, the fullest of those; else the emptiest
    first. spread: each task on another node, as long as there are more.
    """

    def __init__(self, name: str, state: Occupancy, *, seed: int = 0) -> None:
        """`name`: of RESOURCES; `state`: at its beginning, for keys that stay."""
        self.name = name
        self._random = random.Random(seed)  # noqa: S311 - a policy, no secret
        count = len(state.types)
        key = STEADY.get(name)
        order = sorted(range(count), key=lambda place: key(state, place)) if key else list(range(count))
        self._steady = key is not None
        self._gpus = [place for place in order if state.is_gpu[place]]
        self._cpus = [place for place in order if not state.is_gpu[place]]

    def place(self, state: Occupancy, need: Need) -> Holding | None:
        """What a job gets if it starts now; None: not all of its tasks fit. The state is as before."""
        candidates = self._gpus if need.gpus else self._cpus
        if need.tasks > 1:
            return self._several(state, need, candidates)
        place = self._one(state, need, candidates)
        if place is None:
            return None
        memory = ((state.node[place], need.memory_gib),) if need.memory_gib else ()
        return Holding(tuple(state.cores_of(place, 1, need)), memory)

    def _one(self, state: Occupancy, need: Need, candidates: list[int]) -> int | None:
        """The processor for one more task."""
        free, fits = state.free, state.tasks_that_fit
        least = need.gpus or 1  # CPU cores may come from several sockets of a node
        if self._steady:
            for place in candidates:
                if free[place] >= least and fits(place, need):
                    return place
            return None
        fitting = [place for place in candidates if free[place] >= least and fits(place, need)]
        if not fitting:
            return None
        if self.name == "random":
            return self._random.choice(fitting)
        key = CHANGING[self.name]
        return min(fitting, key=lambda place: key(state, place))

    def _several(self, state: Occupancy, need: Need, candidates: list[int]) -> Holding | None:
        if self.room(state, need) < need.tasks * (need.gpus or need.cpus):
            return None
        if self._steady and not need.memory_gib and (need.cpus == 1 if not need.gpus else not need.cpus):
            return _filled(state, need, candidates)
        trial, left = state.copy(), need.tasks
        cores: list[tuple[int, int]] = []
        memory: list[tuple[int, float]] = []
        used: set[int] = set()
        while left:
            chosen = self._next(trial, need, candidates, left, used)
            if chosen is None:
                return None
            at_once = min(left, trial.tasks_that_fit(chosen, need)) if self._steady or self.name == "pack" else 1
            part = Holding(
                tuple(trial.cores_of(chosen, at_once, need)),
                ((trial.node[chosen], at_once * need.memory_gib),) if need.memory_gib else (),
            )
            trial.take(part, need)
            cores += part.cores
            memory += part.memory
            used.add(trial.node[chosen])
            left -= at_once
        return Holding(merged(cores), tuple(memory))

    def room(self, state: Occupancy, need: Need) -> int:
        """Free cores of the kind that does the main work of a job; fewer than it needs are too few, whatever else there is."""
        free = state.free
        return sum([free[place] for place in (self._gpus if need.gpus else self._cpus)])

    def _next(self, state: Occupancy, need: Need, candidates: list[int], left: int, used: set[int]) -> int | None:
        """The processor for the next task of several."""
        if self.name == "spread":
            fresh = [place for place in candidates if state.node[place] not in used]
            found = self._one(state, need, fresh)
            return found if found is not None else self._one(state, need, candidates)
        if self.name == "pack":
            room = {place: state.tasks_that_fit(place, need) for place in candidates}
            whole = [place for place, count in room.items() if count >= left]
            if whole:
                return min(whole, key=lambda place: free_on_node(state, place))
            best = max(room, key=lambda place: room[place], default=None)
            return best if best is not None and room[best] else None
        return self._one(state, need, candidates)


def _filled(state: Occupancy, need: Need, candidates: list[int]) -> Holding | None:
    """Tasks that need one kind of core and nothing else: processor after processor is filled."""
    free, size, left = state.free, need.gpus or 1, need.tasks
    cores: list[tuple[int, int]] = []
    for place in candidates:
        if free[place] >= size and (count := min(left, state.tasks_that_fit(place, need))):
            cores.append((place, count * size))
            left -= count
            if not left:
                return Holding(tuple(cores), ())
    return None


def merged(cores: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Each processor once, in the order of its first use."""
    held: dict[int, int] = {}
    for place, count in cores:
        held[place] = held.get(place, 0) + count
    return tuple(held.items())
