"""What is free: taking and giving back."""

from __future__ import annotations

import numpy as np

from jpo.plugins.cluster.machine.occupancy import Holding, Need, Occupancy, needs
from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.workload.demand import DemandTable


def test_what_is_taken_is_given_back_and_a_copy_stays_apart(sockets: Platform) -> None:
    state, need = Occupancy(sockets), Need(1, 2, 0, 6.0, 8.0, "")
    other = state.copy()
    allocation = Holding(((0, 2),), ((0, 6.0),))
    state.take(allocation, need)
    assert (state.free, state.free_cpus, state.memory, state.bandwidth) == ([0, 2], [2], [26.0], [16, 32])
    assert (other.free, other.bandwidth) == ([2, 2], [32, 32])
    state.take(allocation, need, sign=-1)
    assert (state.free, state.free_cpus, state.memory, state.bandwidth) == ([2, 2], [4], [32.0], [32, 32])


def test_jobs_of_equal_phases_need_the_same_whatever_they_want_besides() -> None:
    """Their bandwidth is that of a phase. One object, so that what could never run is found for all of them."""
    two, phases = np.array([2, 2]), ((600.0, 2.0), (60.0, 1.0))
    demand = DemandTable(
        two, two, 0 * two, 1.0 * two, np.array([5.0, 7.0]), ("", ""), ("", ""), np.full(2, np.inf), (phases, phases)
    )
    one, other = needs(demand)
    assert one is other
    assert one.bandwidth_gbps == 2.0
