"""Resource selection by hand, on two GPU nodes: 4 GPUs at speed 1 with 300 W, 2 GPUs at speed 2 with 400 W."""

from __future__ import annotations

import random

import pytest

from jpo.cluster.machine.occupancy import Need, Occupancy
from jpo.cluster.machine.placement import RESOURCES, Placement
from jpo.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType

CPU = ProcessorType("c", "cpu", 8)
LARGE = NodeType("large", (CPU, ProcessorType("v", "gpu", 4, 1.0, 300)), 64)
SMALL = NodeType("small", (CPU, ProcessorType("a", "gpu", 2, 2.0, 400)), 128)
PLATFORM = Platform("p", (NodeGroup("c", LARGE, 1), NodeGroup("c", SMALL, 1)))
ONE_GPU = Need(1, 1, 1, 4.0, 0.0, "")


@pytest.mark.parametrize(
    ("name", "gpus"),
    [
        *(("first", "v"), ("high_gflops", "a"), ("low_power", "v"), ("high_cores", "v"), ("high_mem", "a")),
        *(("best_fit", "a"), ("worst_fit", "v"), ("spread", "v"), ("pack", "a"), ("high_mem_bw", "v")),
    ],
)
def test_a_task_goes_where_the_key_is_smallest(name: str, gpus: str) -> None:
    state = Occupancy(PLATFORM)
    found = Placement(name, state).place(state, ONE_GPU)
    assert found is not None
    assert [state.types[place].name for place, _ in found.cores] == [gpus, "c"]
    assert [gib for _, gib in found.memory] == [4.0]


def test_pack_keeps_tasks_together_and_spread_apart() -> None:
    state = Occupancy(PLATFORM)
    two = ONE_GPU._replace(tasks=2)
    packed, apart = (Placement(name, state).place(state, two) for name in ("pack", "spread"))
    assert packed is not None
    assert apart is not None
    assert len({node for node, _ in packed.memory}) == 1
    assert len({node for node, _ in apart.memory}) == 2


@pytest.mark.parametrize("name", RESOURCES)
def test_all_or_nothing_and_the_state_stays(name: str) -> None:
    state = Occupancy(PLATFORM)
    before = (list(state.free), list(state.memory), list(state.free_cpus))
    placement = Placement(name, state)
    assert placement.place(state, ONE_GPU._replace(tasks=7)) is None
    assert placement.place(state, ONE_GPU._replace(tasks=6)) is not None
    assert placement.place(state, ONE_GPU._replace(gpu_type="x")) is None
    assert (state.free, state.memory, state.free_cpus) == before


def test_a_task_with_many_cpus_may_span_sockets_but_not_nodes() -> None:
    node = NodeType("n", (CPU, CPU), 64)
    state = Occupancy(Platform("p", (NodeGroup("c", node, 2),)))
    found = Placement("first", state).place(state, Need(1, 12, 0, 0.0, 0.0, ""))
    assert found is not None
    assert found.cores == ((0, 8), (1, 4))
    assert Placement("first", state).place(state, Need(1, 17, 0, 0.0, 0.0, "")) is None


@pytest.mark.parametrize("name", [name for name in RESOURCES if name != "random"])
@pytest.mark.parametrize("need", [Need(1, 2, 1, 3.0, 0.0, ""), Need(5, 1, 1, 2.5, 0.0, ""), Need(3, 1, 0, 1.0, 0.0, "")])
def test_what_is_kept_sorted_finds_what_looking_through_finds(name: str, need: Need) -> None:
    nodes = (*(NodeGroup("c", node, 40) for node in (LARGE, SMALL)), NodeGroup("d", LARGE, 2))
    state = Occupancy(Platform("p", nodes))
    placement = Placement(name, state)
    drawn, held = random.Random(1), []
    for _ in range(150):
        found = placement.place(state, need)
        assert found == placement.place(state.copy(), need)  # a copy is looked through
        small = placement.place(state, ONE_GPU._replace(gpus=drawn.randint(1, 2)))
        for taken in (found, small):
            if taken is not None:
                state.take(taken, need)
                held.append(taken)
        while len(held) > 60:
            state.take(held.pop(drawn.randrange(len(held))), need, sign=-1)
