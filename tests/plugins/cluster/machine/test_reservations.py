"""Reservations on a platform by hand: 2 fast GPUs and 2 slow ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.plugins.cluster.machine.discipline import Discipline, never_fitting, run
from jpo.plugins.cluster.machine.occupancy import Holding, Occupancy
from jpo.plugins.cluster.machine.placement import RESOURCES, Placement
from jpo.plugins.cluster.machine.reservations import Timetable, in_all
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.workload.demand import DemandTable, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable

FAST = NodeType("fast", (ProcessorType("f", "gpu", 2, 2.0),))
SLOW = NodeType("slow", (ProcessorType("s", "gpu", 2, 1.0),))
PLATFORM = Platform("p", (NodeGroup("c", FAST, 1), NodeGroup("c", SLOW, 1)))


def test_each_job_is_promised_particular_gpus_for_as_long_as_it_takes_there() -> None:
    """A and B hold all 4 until 10 and 20; C needs 2 fast ones; D needs 2 of any kind and would delay C on the fast ones."""
    column = np.array
    run_seconds = column([20.0, 20.0, 20.0, 30.0])
    jobs = JobTable(column([1, 2, 3, 4]), column([0.0, 0, 1, 2]), run_seconds, run_seconds, column([2, 2, 2, 2]), column([0] * 4))
    demand = replace(
        one_core_each(jobs), tasks=column([1] * 4), cpus=column([0] * 4), gpus=column([2] * 4), gpu_types=("f", "s", "f", "")
    )
    schedule = run(jobs, demand, PLATFORM, Discipline(selection("fcfs", seed=0), "first", "conservative"))
    assert schedule.starts.tolist() == [
        0,
        0,
        10,
        20,
    ]  # A runs at speed 2; D: on the fast ones from 20 as well, the first that fit
    assert schedule.ends.tolist() == [10, 20, 20, 35]


def test_memory_that_is_promised_to_another_job_is_not_taken_where_cores_stay_free() -> None:
    """A holds 2 of 4 cores and 6 of 10 GiB until 10, B is promised 2 and 8 from then on: C fits beside A, but not beside B."""
    column = np.array
    run_seconds, nothing, two = column([10.0, 10.0, 15.0]), np.zeros(3, dtype=np.int64), column([2, 2, 2])
    jobs = JobTable(column([1, 2, 3]), column([0.0, 1, 2]), run_seconds, run_seconds, two, nothing)
    demand = replace(one_core_each(jobs), tasks=column([1] * 3), cpus=two, memory_gib=column([6.0, 8.0, 4.0]))
    node = NodeType("n", (ProcessorType("c", "cpu", 4),), 10)
    platform = Platform("p", (NodeGroup("c", node, 1),))
    schedule = run(jobs, demand, platform, Discipline(selection("fcfs", seed=0), "first", "conservative"))
    assert schedule.starts.tolist() == [0, 10, 20]


SOCKETS = NodeType("n", (ProcessorType("s", "cpu", 3, 1.0, 1.0, 40.0), ProcessorType("s", "cpu", 2, 0.5, 1.0, 40.0)), 6)
MIXED = Platform("m", (NodeGroup("c", SOCKETS, 2), NodeGroup("c", NodeType("g", (*SOCKETS.processors, *FAST.processors)), 2)))
JOBS = st.tuples(*(st.integers(low, high) for low, high in ((1, 30), (1, 4), (1, 3), (0, 1), (0, 2), (0, 2))))


@pytest.mark.parametrize("resources", [name for name in RESOURCES if name != "random"])
@settings(max_examples=30, deadline=None)
@given(rows=st.lists(JOBS, min_size=4, max_size=25))
def test_reservations_are_those_of_a_look_at_every_moment(resources: str, rows: list[tuple[int, ...]]) -> None:
    """As many jobs as fit start now; all others are reserved for, in their order."""
    seconds, tasks, cpus, gpus, memory, bandwidth = (np.array(column) for column in zip(*rows, strict=True))
    count, users = len(rows), np.zeros(len(rows), dtype=np.int64)
    jobs = JobTable(np.arange(count), np.zeros(count), seconds * 1.0, seconds * 1.0, tasks, users)
    names = ("",) * count
    demand = DemandTable(tasks, cpus, gpus, memory * 1.0, bandwidth * 9.0, names, names, np.full(count, np.inf))
    kept = np.setdiff1d(np.arange(count), never_fitting(demand, MIXED))
    if not len(kept):
        return
    simulation = Simulation(jobs.rows(kept), demand.rows(kept), MIXED)
    placement = Placement(resources, simulation.state)
    simulation.advance()
    waiting = []
    for job in range(len(kept)):
        allocation = placement.place(simulation.state, simulation.need[job])
        if allocation is None:
            waiting.append(job)
        else:
            simulation.start(job, allocation)
    timetable = Timetable(simulation, placement)
    for job in waiting:
        moments = [(moment, state.copy()) for moment, state in zip(timetable._times, timetable._states, strict=True)]
        expected = looked_for(moments, job, simulation, placement)
        assert timetable.reserve(job) == expected


def looked_for(
    moments: list[tuple[float, Occupancy]], job: int, simulation: Simulation, placement: Placement
) -> tuple[float, Holding] | None:
    """The first moment from which a placement stays free for as long as the job takes there."""
    for place, (moment, state) in enumerate(moments):
        until, left = moment, state
        while (allocation := placement.place(left, simulation.need[job])) is not None:
            end = moment + simulation.requested[job] / simulation.speed_on(job, allocation)
            if end <= until or not (between := [one for when, one in moments[place + 1 :] if until <= when < end]):
                return moment, allocation
            until = end
            for one in between:
                left = in_all((left, one))
    return None
