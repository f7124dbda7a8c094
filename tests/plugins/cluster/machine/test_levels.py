"""FreeLevels by hand: two nodes with one processor each, then a third that is full."""

from __future__ import annotations

from jpo.plugins.cluster.machine.levels import FreeLevels
from jpo.plugins.cluster.machine.occupancy import Holding, Need, Occupancy
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType

ONE = Need(1, 1, 0, 0.0, 0.0, "")


def test_processors_are_found_by_level_and_stay_so_as_jobs_come_and_go() -> None:
    nodes = tuple(NodeGroup("c", NodeType("n", (ProcessorType("p", "cpu", cores),)), 1) for cores in (4, 2, 4))
    state = Occupancy(Platform("p", nodes))
    levels = FreeLevels(state, [0, 1, 2], lambda state, place: state.free[place])
    assert list(levels.walk(2, "in order")) == [0, 1, 2]
    assert list(levels.walk(2, "upwards")) == [1, 0, 2]
    assert list(levels.walk(3, "downwards")) == [0, 2]
    state.take(Holding(((0, 3),), ()), ONE)
    assert list(levels.walk(2, "in order")) == [1, 2]
    assert list(levels.walk(0, "downwards")) == [2, 1, 0]
    state.take(Holding(((0, 3),), ()), ONE, sign=-1)
    assert list(levels.walk(3, "upwards")) == [0, 2]
    state.copy().take(Holding(((0, 4),), ()), ONE)
    assert list(levels.walk(3, "upwards")) == [0, 2]  # a copy is not followed
