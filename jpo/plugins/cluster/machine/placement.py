"""Resource selection: which processors a job gets. Task by task, each where the key is smallest among processors that it fits.

A key looks at a processor and the node that it is in, as both are by then. Ties go to the first in the platform. The usual cases
are looked up in levels: one task, and several where a task changes nothing for other processors than its own.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush

from jpo.plugins.cluster.machine.levels import FreeLevels, Level, Way
from jpo.plugins.cluster.machine.occupancy import Holding, Need, Occupancy, merged
from jpo.plugins.cluster.machine.outlook import overload
from jpo.plugins.cluster.platform.platform import UNLIMITED, ProcessorType

Shares = list[tuple[int, int]]
"""How many tasks of a job each processor gets, in the order of its first task."""
FEW = 64
"""Processors up to which sorting them for a job of several tasks is faster than keeping them sorted."""


def with_room(state: Occupancy, place: int) -> float:
    """Free cores of the processor's kind on its node; 0 where the processor itself is full."""
    free = state.free[place]
    return state.free_cpus[state.node[place]] if free and not state.is_gpu[place] else free


STEADY: Mapping[str, Callable[[ProcessorType], float]] = {
    "first": lambda kind: 0.0,  # in the order of the platform
    "high_gflops": lambda kind: -kind.speed,
    "low_power": lambda kind: kind.watts,
}
"""Keys that no job changes, the smallest first: as many tasks as fit are put on a processor at once."""
CHANGING: Mapping[str, tuple[Level, Way]] = {
    "high_cores": (lambda state, place: state.free[place], "downwards"),
    "high_mem": (lambda state, place: state.memory[state.node[place]], "downwards"),
    "high_mem_bw": (lambda state, place: state.bandwidth[place], "downwards"),
    "best_fit": (with_room, "upwards"),
    "worst_fit": (with_room, "downwards"),
    "spread": (with_room, "downwards"),
    "pack": (with_room, "upwards"),
}
"""Levels of what is free, which jobs change, and in which direction they are walked through."""
RESOURCES = (*STEADY, *CHANGING, "phase_pack", "random")
LOOKED_THROUGH = ("phase_pack", "random")
"""Those that are about more than a level."""


class Placement:
    """A resource selection on a platform.

    pack: on as few nodes as possible: one that holds the whole job if there is one, the fullest of those; else the emptiest
    first. spread: each task on another node, as long as there are more. phase_pack: see outlook.py.
    """

    def __init__(self, name: str, state: Occupancy, *, seed: int = 0) -> None:
        """`name`: of RESOURCES; `state`: at its beginning; it is followed, other states are looked through."""
        self._random = random.Random(seed)  # noqa: S311 - a policy, no secret
        count = len(state.types)
        if name == "random" and sum(state.is_gpu) <= 1 and count - sum(state.is_gpu) <= 1:
            name = "first"  # among one processor of each kind there is nothing to draw
        self.name = name
        key = STEADY.get(name)
        order = sorted(range(count), key=lambda place: key(state.types[place])) if key else list(range(count))
        self.steady = key is not None
        self._fills = name in (*STEADY, "best_fit", "high_mem")  # with tasks of one core, processor after processor
        self._level, self._way = CHANGING.get(name, (with_room, "in order"))
        self._candidates = [[place for place in order if state.is_gpu[place] is gpu] for gpu in (False, True)]
        self._alone = [len({state.node[place] for place in places}) == len(places) for places in self._candidates]
        self._state = state
        self._levels: list[FreeLevels | None] = [None, None]

    def place(self, state: Occupancy, need: Need) -> Holding | None:
        """What a job gets if it starts now; None: not all of its tasks fit. The state is as before."""
        if state.left[need.gpus > 0] < need.tasks * (need.gpus or need.cpus):
            return None
        if self._fills and need.is_of_single_cores:
            return self._cores_filled(state, need)
        if need.tasks > 1:
            return self._several(state, need)
        place = self._one(state, need)
        return None if place is None else state.holding(((place, 1),), need)

    def fits(self, state: Occupancy, need: Need) -> bool:
        """Whether `place` would find something; nothing is drawn."""
        gpu, left = need.gpus > 0, need.tasks
        if state.left[gpu] < left * (need.gpus or need.cpus):
            return False
        if need.is_of_single_cores:
            return True
        if left > 1 and not self._alone[gpu]:  # processors of a node share what its tasks need
            return self._several(state, need) is not None
        for _, room in state.rooms(self._candidates[gpu], need):
            left -= room
            if left <= 0:
                return True
        return False

    def _one(self, state: Occupancy, need: Need) -> int | None:
        if self.name in LOOKED_THROUGH:
            return self._looked_through(state, need, self._candidates[need.gpus > 0])
        for place, _ in state.rooms(self._walk(state, need, self._way), need):
            return place
        return None

    def _walk(self, state: Occupancy, need: Need, way: Way, tasks: int = 1) -> Iterable[int]:
        """Processors that so many tasks may fit, the best first."""
        level, gpu = self._level, need.gpus > 0
        if self.name == "high_mem":
            least = tasks * need.memory_gib
        elif self.name == "high_mem_bw":
            least = -UNLIMITED
        else:
            least = tasks * (need.gpus or (1 if self.name == "high_cores" else need.cpus))
        if state is self._state and (
            len(self._candidates[gpu]) > FEW
            or (way != "in order" and not (level is with_room and (need.tasks > 1 or need.is_of_single_cores)))
        ):
            levels = self._levels[gpu] = self._levels[gpu] or FreeLevels(state, self._candidates[gpu], level)
            return levels.walk(least, way)
        if way == "in order":
            return self._candidates[gpu]
        sign = -1 if way == "downwards" else 1
        if level is with_room and not gpu:  # without a call for each of them
            free, rooms, node = state.free, state.free_cpus, state.node
            sizes = [(sign * rooms[node[at]], at) for at in self._candidates[0] if free[at] and rooms[node[at]] >= least]
            return [place for _, place in sorted(sizes)]
        found = [(sign * value, place) for place in self._candidates[gpu] if (value := level(state, place)) >= least]
        return [place for _, place in sorted(found)]

    def _several(self, state: Occupancy, need: Need) -> Holding | None:
        if not self._independent(need):
            if need.gpus or not need.is_of_single_cores or self._way != "downwards":
                return self._task_by_task(state, need)
            shares = self._dealt_to_nodes(state, need)
        elif self.name == "pack":
            shares = self._packed(state, need)
        elif self._way == "downwards":
            shares = self._dealt(state, need)
        else:
            shares = self._filled(state, need)
        return None if shares is None else state.holding(shares, need)

    def _independent(self, need: Need) -> bool:
        """Whether a task on one processor changes neither the level nor the room of another one."""
        if self.name in LOOKED_THROUGH:
            return False
        if self._alone[need.gpus > 0]:
            return True
        shared = not need.gpus and self._level is with_room and self._way == "downwards"
        nothing_else = not need.cpus if need.gpus else need.cpus == 1
        return nothing_else and not need.memory_gib and not shared and self.name != "spread"

    def _filled(self, state: Occupancy, need: Need) -> Shares | None:
        """Processor after processor is filled: tasks make none of them a worse choice."""
        shares: Shares = []
        left = need.tasks
        for place, room in state.rooms(self._walk(state, need, self._way), need):
            if room >= left:
                shares.append((place, left))
                return shares
            shares.append((place, room))
            left -= room
        return None

    def _cores_filled(self, state: Occupancy, need: Need) -> Holding | None:
        """The same for tasks of one core, or GPU, and nothing else: what is free is room."""
        free, left = state.free, need.tasks
        cores: list[tuple[int, int]] = []
        for place in self._walk(state, need, self._way):
            room = free[place]
            if room >= left:
                cores.append((place, left))
                return Holding(tuple(cores), ())
            if room:
                cores.append((place, room))
                left -= room
        return None

    def _dealt(self, state: Occupancy, need: Need) -> Shares | None:
        """Each task where most is left by then; to spread, first one for each processor."""
        level = self._level
        if self.name == "high_mem":
            step = need.memory_gib
        elif self.name == "high_mem_bw":
            step = 0.0 if need.gpus else need.cpus * need.bandwidth_gbps
        else:
            step = need.gpus or need.cpus
        fresh = ((-level(state, place), place, room) for place, room in state.rooms(self._walk(state, need, self._way), need))
        used: list[tuple[float, int, int]] = []  # a heap: level after what it got, processor, room that is left
        given: dict[int, int] = {}
        ahead, spread = next(fresh, None), self.name == "spread"
        for _ in range(need.tasks):
            if ahead is not None and (spread or not used or ahead < used[0]):
                chosen, ahead = ahead, next(fresh, None)
            elif used:
                chosen = heappop(used)
            else:
                return None
            worse, place, room = chosen
            given[place] = given.get(place, 0) + 1
            if room > 1:
                heappush(used, (worse + step, place, room - 1))
        return list(given.items())

    def _dealt_to_nodes(self, state: Occupancy, need: Need) -> Shares | None:
        """Tasks of one CPU core, each on the node where most is left by then: on its first processor that is not full."""
        free, rooms = state.free.copy(), state.free_cpus
        fresh = [
            (-rooms[node], next(place for place in places if free[place]), node)
            for node, places in enumerate(state.cpu_processors)
            if rooms[node]
        ]
        heapify(fresh)
        used: list[tuple[int, int, int]] = [] if self.name == "spread" else fresh  # heaps: free cores, processor, node
        given: dict[int, int] = {}
        for _ in range(need.tasks):
            worse, place, node = heappop(fresh or used)
            given[place] = given.get(place, 0) + 1
            free[place] -= 1
            if worse < -1:
                if not free[place]:
                    place = next(other for other in state.cpu_processors[node] if free[other])
                heappush(used, (worse + 1, place, node))
        return list(given.items())

    def _packed(self, state: Occupancy, need: Need) -> Shares | None:
        """On the fullest node that holds all that is left; as long as there is none, as much as possible on one."""
        left = need.tasks
        for place, room in state.rooms(self._walk(state, need, "upwards", left), need):
            if room >= left:
                return [(place, left)]
        shares: Shares = []
        taken: dict[int, int] = {}  # CPU cores of nodes whose processors share them
        rooms = sorted((-room, place) for place, room in state.rooms(self._walk(state, need, "in order"), need))
        for at, (room, place) in enumerate(rooms):
            if -room >= left:
                whole = (place for room, place in rooms[at:] if -room >= left)
                fullest = min(whole, key=lambda place: (with_room(state, place) - taken.get(state.node[place], 0), place))
                return [*shares, (fullest, left)]
            shares.append((place, -room))
            if not need.gpus:
                taken[state.node[place]] = taken.get(state.node[place], 0) - room * need.cpus
            left += room
        return None

    def _task_by_task(self, state: Occupancy, need: Need) -> Holding | None:
        """Where a task also changes what fits beside it: on a copy, looking through all processors for each."""
        trial, left, used = state.copy(), need.tasks, set[int]()
        cores, memory = list[tuple[int, int]](), list[tuple[int, float]]()
        while left:
            chosen = self._next(trial, need, self._candidates[need.gpus > 0], left, used)
            if chosen is None:
                return None
            room = dict(trial.rooms((chosen,), need))[chosen]
            at_once = min(left, room) if self.steady or self.name == "pack" else 1
            part = trial.holding(((chosen, at_once),), need)
            trial.take(part, need)
            cores += part.cores
            memory += part.memory
            used.add(trial.node[chosen])
            left -= at_once
        return Holding(merged(cores), tuple(memory))

    def _next(self, state: Occupancy, need: Need, candidates: list[int], left: int, used: set[int]) -> int | None:
        if self.name == "spread":
            fresh = [place for place in candidates if state.node[place] not in used]
            found = self._looked_through(state, need, fresh)
            return found if found is not None else self._looked_through(state, need, candidates)
        if self.name == "pack":
            room = dict(state.rooms(candidates, need))
            if whole := [place for place, count in room.items() if count >= left]:
                return min(whole, key=lambda place: with_room(state, place))
            return max(room, key=lambda place: room[place], default=None)
        return self._looked_through(state, need, candidates)

    def _looked_through(self, state: Occupancy, need: Need, candidates: Iterable[int]) -> int | None:
        fitting = (place for place, _ in state.rooms(candidates, need))
        if self.steady:
            return next(fitting, None)
        if self.name == "random":
            found = list(fitting)
            return self._random.choice(found) if found else None
        if self.name == "phase_pack":
            best = min(((overload(state, place, need), with_room(state, place), place) for place in fitting), default=None)
            return None if best is None else best[-1]
        sign = -1 if self._way == "downwards" else 1
        return min(fitting, key=lambda place: sign * self._level(state, place), default=None)
