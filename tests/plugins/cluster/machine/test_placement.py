"""Resource selection by hand, on two GPU nodes: 4 GPUs at speed 1 with 300 W, 2 GPUs at speed 2 with 400 W."""

from __future__ import annotations

import random

import pytest

from jpo.plugins.cluster.machine.occupancy import Holding, Need, Occupancy
from jpo.plugins.cluster.machine.placement import RESOURCES, Placement
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType

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


MIXED = Platform(
    "mixed",
    (
        NodeGroup("c", NodeType("slow", (ProcessorType("slow", "cpu", 4, 0.8),) * 2, 256), 3),
        NodeGroup("c", NodeType("fast", (ProcessorType("fast", "cpu", 8),), 128), 3),
    ),
)


def one_core(tasks: int) -> Need:
    return Need(tasks, 1, 0, 0.0, 0.0, "")


@pytest.mark.parametrize("name", ["first", "high_gflops", "low_power", "best_fit", "worst_fit", "high_cores", "high_mem"])
def test_tasks_of_one_core_get_at_once_what_they_would_get_one_by_one(name: str) -> None:
    state, drawn, held = Occupancy(MIXED), random.Random(2), []
    placement = Placement(name, state)
    for _ in range(200):
        need = one_core(drawn.randint(2, 24))
        found, trial, wanted = placement.place(state, need), state.copy(), dict[int, int]()
        assert placement.fits(state, need) is (found is not None) is (state.left[0] >= need.tasks)
        if found is not None:
            for _ in range(need.tasks):
                one = placement.place(trial, one_core(1))
                assert one is not None
                trial.take(one, one_core(1))
                wanted[one.cores[0][0]] = wanted.get(one.cores[0][0], 0) + 1
            assert found.cores == tuple(wanted.items())
            state.take(found, need)
            held.append((found, need))
        while len(held) > 5:
            state.take(*held.pop(drawn.randrange(len(held))), sign=-1)


def test_tasks_of_one_core_are_spread_and_packed_where_processors_share_a_node() -> None:
    state = Occupancy(MIXED)
    assert state.free == [4, 4, 4, 4, 4, 4, 8, 8, 8]
    state.take(Holding(((0, 4), (6, 3)), ()), one_core(7))
    spread = Placement("spread", state).place(state, one_core(8))
    assert spread is not None  # each node once; then two more where most was left
    assert spread.cores == ((2, 2), (4, 2), (7, 1), (8, 1), (6, 1), (1, 1))
    packed = Placement("pack", state)
    four, eleven = packed.place(state, one_core(4)), packed.place(state, one_core(11))
    assert four is not None
    assert eleven is not None
    assert four.cores == ((1, 4),)  # the fullest node that holds all
    assert eleven.cores == ((7, 8), (1, 3))
    state.take(Holding(((7, 8), (8, 8), (6, 5)), ()), one_core(21))
    six = packed.place(state, one_core(6))
    assert six is not None
    assert six.cores == ((1, 4), (2, 2))  # no processor holds six
    state.take(Holding(((0, 3),), ()), one_core(3), sign=-1)
    state.take(Holding(((2, 4),), ()), one_core(4))
    six = packed.place(state, one_core(6))
    assert six is not None
    assert six.cores == ((1, 4), (0, 2))  # by then 3 cores are free on that node, fewer than on the next one


def test_bandwidth_that_a_phase_leaves_is_seen() -> None:
    """Two equal nodes: the first has more left only once its job's second phase begins."""
    socket = NodeType("s", (ProcessorType("c", "cpu", 4, bandwidth_gbps=100.0),))
    state = Occupancy(Platform("p", (NodeGroup("c", socket, 2),)))
    placement, need = Placement("high_mem_bw", state), Need(1, 1, 0, 0.0, 50.0, "")
    held = [Holding(((place, 1),), ()) for place in (0, 1)]
    state.take(held[0], need)
    state.take(held[1], need._replace(bandwidth_gbps=20.0))
    assert placement.place(state, need) == held[1]
    state.want_more(held[0], -49.0)
    assert placement.place(state, need) == held[0]
