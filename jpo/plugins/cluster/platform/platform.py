"""Platform: clusters > nodes > processors > cores, as a simulation and its policies see it.

All GPUs of one type in a node are one processor whose cores are the GPUs: what is given out one by one is a core here. Speeds are
relative to a reference on which run times of jobs count; the processors that jobs get decide how long they truly take.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from jpo.plugins.cluster.workload.demand import SERIAL_SHARE

ProcessorKind = Literal["cpu", "gpu"]
UNLIMITED = float("inf")


@dataclass(frozen=True, slots=True)
class PowerShares:
    """What cores draw, as shares of the watts of a busy one. Busy cores draw all, also where they are slowed down.

    Attributes:
        beside_busy: each idle core of a processor that is partly busy; such a processor also draws what it would when idle.
        idle: each core of an idle processor.

    Source: the power states of HDeepRM (Herrera, 2020): 100%, 100% at 75% of the speed, 15% and 5%.
    """

    beside_busy: float = 0.15
    idle: float = 0.05


@dataclass(frozen=True, slots=True)
class ProcessorType:
    """A socket with its cores, or all GPUs of one type in a node.

    Attributes:
        name: e.g. "a100"; jobs may ask for a GPU type by it.
        cores: how many there are to give out, at least 1.
        speed: of a core, relative to the reference, above 0; `speeds` has it for classes of jobs that differ.
        watts: of a busy core.
        bandwidth_gbps: memory bandwidth of the processor in GB/s, shared by its cores.
    """

    name: str
    kind: ProcessorKind
    cores: int
    speed: float = 1.0
    watts: float = 0.0
    bandwidth_gbps: float = UNLIMITED
    speeds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.cores < 1 or self.watts < 0 or not all(0 < speed < UNLIMITED for speed in (self.speed, *self.speeds.values())):
            raise ValueError(f"processor {self.name}: at least one core, watts from 0 and a speed above 0 are needed")
        if not self.bandwidth_gbps > 0:
            raise ValueError(f"processor {self.name}: the bandwidth must be above 0 GB/s")


@dataclass(frozen=True, slots=True)
class NodeType:
    """A node: its processors, and memory in GiB that they share. `usd_per_hour` is paid while a job is on it."""

    name: str
    processors: tuple[ProcessorType, ...]
    memory_gib: float = UNLIMITED
    usd_per_hour: float = 0.0

    def __post_init__(self) -> None:
        if not self.processors:
            raise ValueError(f"node {self.name} has no processors")
        if not (self.memory_gib > 0 and 0 <= self.usd_per_hour < UNLIMITED):
            raise ValueError(f"node {self.name}: memory must be above 0 GiB, the price from 0 USD/h")


@dataclass(frozen=True, slots=True)
class NodeGroup:
    cluster: str
    node: NodeType
    count: int


@dataclass(frozen=True, slots=True)
class Slowdowns:
    """By how much a job takes longer where its tasks are apart: its time is multiplied. 1: not at all.

    `nodes`: tasks on several nodes of one cluster. clusters: on several clusters. `conflict`: speed where jobs want more memory
    bandwidth of a processor than it has; None: in proportion to what there is.
    """

    nodes: float = 1.0
    clusters: float = 1.0
    conflict: float | None = 0.75

    def __post_init__(self) -> None:
        if not (1 <= self.nodes < UNLIMITED and 1 <= self.clusters < UNLIMITED):
            raise ValueError("a job that is scattered takes at least as long: write slow-downs from 1")
        if self.conflict is not None and not 0 < self.conflict <= 1:
            raise ValueError("the speed in a conflict is above 0 and at most 1")


@dataclass(frozen=True, slots=True)
class ResizeCosts:
    """What it costs to change the number of tasks of a running job.

    Attributes:
        serial_share: of jobs that do not say theirs, see workload/demand.py.
        resize_seconds: in which the job holds its new devices and does nothing: it writes a checkpoint and starts from it.
        cooldown_seconds: between two changes of one job, at least.

    Source of the 30 s: what Pollux's simulator takes for a restart (Qiao et al., OSDI 2021). At the shortest cooldown that is a
    tenth of the time.
    """

    serial_share: float = SERIAL_SHARE
    resize_seconds: float = 30.0
    cooldown_seconds: float = 300.0

    def __post_init__(self) -> None:
        if not 0 <= self.serial_share <= 1:
            raise ValueError(f"elastic: serial_share = {self.serial_share:g} is not a share from 0 to 1")
        if not 0 <= self.resize_seconds <= self.cooldown_seconds < UNLIMITED:
            times = f"cooldown_seconds = {self.cooldown_seconds:g} is less than resize_seconds = {self.resize_seconds:g}"
            raise ValueError(f"elastic: {times}")


@dataclass(frozen=True, slots=True)
class Platform:
    """Groups of nodes, in the order in which policies look at them. Raises ValueError: there is no node."""

    name: str
    groups: tuple[NodeGroup, ...]
    slowdowns: Slowdowns = field(default_factory=Slowdowns)
    power: PowerShares = field(default_factory=PowerShares)
    elastic: ResizeCosts = field(default_factory=ResizeCosts)

    def __post_init__(self) -> None:
        if sum(group.count for group in self.groups) < 1:
            raise ValueError("the platform has no nodes")

    @property
    def nodes(self) -> tuple[tuple[str, NodeType], ...]:
        return tuple((group.cluster, group.node) for group in self.groups for _ in range(group.count))

    @property
    def metered(self) -> bool:
        """Whether a processor says what it draws; where none does, energy is unknown."""
        return any(processor.watts for group in self.groups for processor in group.node.processors)

    @property
    def priced(self) -> bool:
        """Whether a node has a price; where none has, cost is unknown."""
        return any(group.node.usd_per_hour for group in self.groups)

    def cores(self, kind: ProcessorKind) -> int:
        """How many cores, or GPUs, there are."""
        return sum(processor.cores for _, node in self.nodes for processor in node.processors if processor.kind == kind)


def equal_processors(count: int) -> Platform:
    """One node with so many equal cores: what a log of a machine of equal processors runs on."""
    node = NodeType("node", (ProcessorType("core", "cpu", count),))
    return Platform("equal", (NodeGroup("cluster", node, 1),))
