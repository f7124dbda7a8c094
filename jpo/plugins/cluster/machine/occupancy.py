"""Occupancy: what is free on each node and processor while jobs come and go. Plain lists: this is read millions of times."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jpo.plugins.cluster.platform.platform import UNLIMITED, Platform
from jpo.plugins.cluster.workload.demand import DemandTable, Phases

GRAIN = 2.0**20
"""Parts of a GiB, and of a GB/s, in which memory and bandwidth are counted: sums of them are exact, so that what is given back
millions of times stays what it was."""


class Need(NamedTuple):
    """What a job needs, as plain numbers: the row of a DemandTable. Jobs that need the same have the same object."""

    tasks: int
    cpus: int
    gpus: int
    memory_gib: float
    bandwidth_gbps: float
    gpu_type: str
    phases: Phases = ()

    @property
    def is_of_single_cores(self) -> bool:
        """Whether any free cores will do, or any free GPUs: each task needs one, and nothing beside it."""
        return self.cpus + self.gpus == 1 and not self.memory_gib and not self.gpu_type


class Holding(NamedTuple):
    """What a job holds.

    `cores`: (processor, how many) pairs; a processor may be there several times. `memory`: (node, GiB) pairs, one for each task
    or group of tasks.
    """

    cores: tuple[tuple[int, int], ...]
    memory: tuple[tuple[int, float], ...]


NOTHING = Holding((), ())


class Occupancy:
    """Free cores of each processor, and memory and CPU cores of each node.

    Attributes:
        free: cores by processor. node: where each processor is. free_cpus, memory: by node. bandwidth: GB/s by processor.
        left: free CPU cores, and free GPUs, of the whole platform.
        cpu_processors: the processors with CPU cores of each node.
        outlook: of a processor, the needs of the jobs on it, the cores that they hold there, and how many seconds they have done.
    """

    outlook: Callable[[int], Sequence[tuple[Need, int, float]]] | None = None

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self.types = [processor for _, node in platform.nodes for processor in node.processors]
        self.node = [place for place, (_, node) in enumerate(platform.nodes) for _ in node.processors]
        self.clusters = [cluster for cluster, _ in platform.nodes]
        self.memory = [in_grains(node.memory_gib) for _, node in platform.nodes]
        self.free = [processor.cores for processor in self.types]
        self.bandwidth = [in_grains(processor.bandwidth_gbps) for processor in self.types]
        self.is_gpu = [processor.kind == "gpu" for processor in self.types]
        self._with_gpus = any(self.is_gpu)
        self.cpu_processors: list[list[int]] = [[] for _ in platform.nodes]
        for place, node in enumerate(self.node):
            if not self.is_gpu[place]:
                self.cpu_processors[node].append(place)
        self.free_cpus = [sum(self.free[place] for place in places) for places in self.cpu_processors]
        self.left = [sum(self.free_cpus), sum(free for free, gpu in zip(self.free, self.is_gpu, strict=True) if gpu)]
        self._watchers: list[set[int]] = []

    def watch(self) -> set[int]:
        """The nodes where something changes from now on; who asked empties it."""
        changed: set[int] = set()
        self._watchers.append(changed)
        return changed

    def copy(self) -> "Occupancy":
        """The same state, to try what would be."""
        other = object.__new__(Occupancy)
        other.__dict__.update(self.__dict__)
        other.memory, other.free = self.memory.copy(), self.free.copy()
        other.bandwidth, other.free_cpus = self.bandwidth.copy(), self.free_cpus.copy()
        other.left, other._watchers = self.left.copy(), []
        return other

    def take(self, allocation: Holding, need: Need, *, sign: int = 1) -> None:
        """Take what an allocation names; with sign -1 give it back."""
        free, free_cpus, node, is_gpu, bandwidth = self.free, self.free_cpus, self.node, self.is_gpu, need.bandwidth_gbps
        gpus = cpus = 0
        if self._with_gpus or bandwidth:
            for place, count in allocation.cores:
                count *= sign
                free[place] -= count
                if is_gpu[place]:
                    gpus += count
                    continue
                cpus += count
                free_cpus[node[place]] -= count
                if bandwidth:
                    self.bandwidth[place] -= count * bandwidth
            self.left[1] -= gpus
        else:  # the same, for nothing but CPU cores
            for place, count in allocation.cores:
                count *= sign
                free[place] -= count
                free_cpus[node[place]] -= count
                cpus += count
        self.left[0] -= cpus
        for home, gib in allocation.memory:
            self.memory[home] -= sign * gib
        for changed in self._watchers:
            changed.update([node[place] for place, _ in allocation.cores])

    def want_more(self, allocation: Holding, gbps: float) -> None:
        """Each CPU core that an allocation names wants more memory bandwidth than when it was taken, or less."""
        for place, count in allocation.cores:
            if not self.is_gpu[place]:
                self.bandwidth[place] -= count * gbps
        for changed in self._watchers:
            changed.update([self.node[place] for place, _ in allocation.cores])

    def rooms(self, places: Iterable[int], need: Need) -> Iterator[tuple[int, int]]:
        """How many tasks of a job could start with each of some processors as the one that does their main work.

        The processors have GPUs where the job needs some, else CPU cores. Those where no task fits are left out.
        """
        free, node, free_cpus, memory = self.free, self.node, self.free_cpus, self.memory
        gpus, cpus, gib, gpu_type = need.gpus, need.cpus, need.memory_gib, need.gpu_type
        for place in places:
            if gpus:
                count = free[place] // gpus
                if not count or (gpu_type and self.types[place].name != gpu_type):
                    continue
                if cpus:
                    beside = free_cpus[node[place]] // cpus
                    if beside < count:
                        count = beside
            elif free[place]:
                count = free[place] // cpus or int(free_cpus[node[place]] >= cpus)  # a large task may span sockets
            else:
                continue
            if gib:
                room = memory[node[place]] // gib
                if room < count:
                    count = int(room)
            if count > 0:
                yield place, count

    def holding(self, shares: Sequence[tuple[int, int]], need: Need) -> Holding:
        """What a job gets with so many tasks on each of some processors, which fit: (processor, tasks) pairs."""
        free, node, cpu_processors = self.free, self.node, self.cpu_processors
        gpus, cpus, gib = need.gpus, need.cpus, need.memory_gib
        if gpus and not cpus:
            cores = [(place, count * gpus) for place, count in shares]
        else:
            cores = []
            for place, count in shares:
                others = cpu_processors[node[place]]
                if gpus and len(others) == 1:
                    cores += (place, count * gpus), (others[0], count * cpus)
                elif not gpus and count * cpus <= free[place]:
                    cores.append((place, count * cpus))
                else:
                    cores += self.cores_of(place, count, need)
        return Holding(tuple(cores), tuple([(node[place], count * gib) for place, count in shares]) if gib else ())

    def cores_of(self, place: int, count: int, need: Need) -> list[tuple[int, int]]:
        """The cores that so many tasks take, which fit: on the processor itself first, CPU cores then anywhere in its node."""
        taken: list[tuple[int, int]] = []
        if need.gpus:
            taken.append((place, count * need.gpus))
        left = count * need.cpus
        if left <= self.free[place] and not need.gpus:
            return [(place, left)]
        others = self.cpu_processors[self.node[place]]
        for processor in others if need.gpus else (place, *(other for other in others if other != place)):
            part = min(left, self.free[processor])
            if part:
                taken.append((processor, part))
                left -= part
            if not left:
                break
        return taken


def merged(cores: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Each processor once, in the order of its first use."""
    held: dict[int, int] = {}
    for place, count in cores:
        held[place] = held.get(place, 0) + count
    return tuple(held.items())


def needs(demand: DemandTable) -> list[Need]:
    """The rows of a table. The bandwidth of a job with phases is that of the first one."""
    amounts = (np.round(column * GRAIN) / GRAIN for column in (demand.memory_gib, demand.bandwidth_gbps))
    columns = (demand.tasks, demand.cpus, demand.gpus, *amounts)
    phases = [
        tuple((seconds, round(gbps * GRAIN) / GRAIN) for seconds, gbps in one)
        for one in demand.phases or ((),) * len(demand.tasks)
    ]
    rows = list(zip(*(column.tolist() for column in columns), demand.gpu_types, phases, strict=True))
    different: dict[Need, Need] = {}  # rows whose bandwidth is only that outside of phases are one need
    of_row = {}
    for row in set(rows):
        need = Need(*row)._replace(bandwidth_gbps=row[-1][0][1]) if row[-1] else Need(*row)
        of_row[row] = different.setdefault(need, need)
    return [of_row[row] for row in rows]


def in_grains(amount: float) -> float:
    """An amount as a whole number of grains; infinite stays infinite."""
    return round(amount * GRAIN) / GRAIN if amount < UNLIMITED else amount
