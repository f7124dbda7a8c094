"""Shadow by hand on eight equal cores, and against a reservation worked out anew at each moment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import MACHINE, traces

from jpo.plugins.cluster.machine.occupancy import Holding
from jpo.plugins.cluster.machine.placement import Placement
from jpo.plugins.cluster.machine.shadow import Shadow
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable, sorted_jobs


def simulation_of(processors: list[int], requested: list[float]) -> Simulation:
    count = len(processors)
    times = np.array(requested)
    jobs = sorted_jobs(np.arange(count), np.zeros(count), times, times, np.array(processors))
    return Simulation(jobs, one_core_each(jobs), equal_processors(8))


def start(simulation: Simulation, placement: Placement, job: int) -> None:
    allocation = placement.place(simulation.state, simulation.need[job])
    assert allocation is not None
    simulation.start(job, allocation)


def test_the_moment_and_what_is_left_over_at_it() -> None:
    """Jobs of 3, 3 and 2 cores end after 10, 20 and 30 s; who needs 5 starts at 20 and leaves one core over."""
    simulation = simulation_of([3, 3, 2, 5, 8, 1], [10.0, 20.0, 30.0, 5.0, 5.0, 5.0])
    placement = Placement("first", simulation.state)
    for job in range(3):
        start(simulation, placement, job)
    shadow = Shadow(simulation, placement)
    shadow.reserve(3)
    assert shadow.moment == 20.0
    assert shadow.leaves(Holding(((0, 1),), ()))
    assert not shadow.leaves(Holding(((0, 2),), ()))
    assert shadow.leaves_devices(simulation.need[5])
    assert not shadow.leaves_devices(simulation.need[2])
    shadow.reserve(4)
    assert shadow.moment == 30.0
    assert not shadow.leaves_devices(simulation.need[5])
    shadow.reserve(5)  # one core is free after the first end
    assert shadow.moment == 10.0


@pytest.mark.parametrize("resources", ["first", "best_fit", "phase_pack", "random"])
@settings(max_examples=60)
@given(jobs=traces(), data=st.data())
def test_what_is_followed_is_what_is_found_anew(resources: str, jobs: JobTable, data: st.DataObject) -> None:
    simulation = Simulation(jobs, one_core_each(jobs), equal_processors(MACHINE))
    placement = Placement(resources, simulation.state)
    shadow, waiting = Shadow(simulation, placement), []
    while True:
        try:
            ended, came = simulation.advance()
        except StopIteration:
            return
        for job in ended:
            shadow.ended(job)
        waiting += came
        for job in [*waiting]:
            if data.draw(st.booleans()) and (found := placement.place(simulation.state, simulation.need[job])) is not None:
                simulation.start(job, found)
                shadow.started(job, in_turn=True)
                waiting.remove(job)
        head = next((job for job in waiting if placement.place(simulation.state, simulation.need[job]) is None), None)
        if head is not None:
            shadow.reserve(head)
            anew = Shadow(simulation, placement)
            anew.reserve(head)
            assert shadow.moment == anew.moment
            free = range(MACHINE + 1)
            assert [shadow.leaves(Holding(((0, n),), ())) for n in free] == [anew.leaves(Holding(((0, n),), ())) for n in free]
