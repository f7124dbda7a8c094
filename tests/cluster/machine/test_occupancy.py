"""What is free: taking and giving back."""

from __future__ import annotations

from jpo.cluster.machine.occupancy import Holding, Need, Occupancy
from jpo.cluster.platform.platform import Platform


def test_what_is_taken_is_given_back_and_a_copy_stays_apart(sockets: Platform) -> None:
    state, need = Occupancy(sockets), Need(1, 2, 0, 6.0, 8.0, "")
    other = state.copy()
    allocation = Holding(((0, 2),), ((0, 6.0),))
    state.take(allocation, need)
    assert (state.free, state.free_cpus, state.memory, state.bandwidth) == ([0, 2], [2], [26.0], [16, 32])
    assert (other.free, other.bandwidth) == ([2, 2], [32, 32])
    state.take(allocation, need, sign=-1)
    assert (state.free, state.free_cpus, state.memory, state.bandwidth) == ([2, 2], [4], [32.0], [32, 32])
