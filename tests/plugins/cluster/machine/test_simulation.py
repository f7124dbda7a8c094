"""The event loop, step by step."""

from __future__ import annotations

import pytest

from jpo.plugins.cluster.machine.placement import Placement
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable


def test_arrivals_then_ends_then_nothing(sockets: Platform, two: tuple[JobTable, DemandTable]) -> None:
    simulation = Simulation(*two, sockets)
    placement = Placement("high_mem_bw", simulation.state)
    assert simulation.advance() == ([], [0, 1])
    for job in (0, 1):
        allocation = placement.place(simulation.state, simulation.need[job])
        assert allocation is not None
        simulation.start(job, allocation)
    assert simulation.advance() == ([1], [])
    assert simulation.now == pytest.approx(21 / 4.4)
    assert simulation.advance() == ([0], [])
    with pytest.raises(StopIteration):
        simulation.advance()
    assert simulation.schedule().ends.tolist() == pytest.approx([5.25, 21 / 4.4])
