"""Schedules on platforms: as on equal processors where nothing differs; golden values of conflicts; capacity on every node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import MACHINE, traces

from jpo.plugins.cluster.machine.bill import bill
from jpo.plugins.cluster.machine.discipline import Discipline, never_fitting, run
from jpo.plugins.cluster.machine.occupancy import Occupancy
from jpo.plugins.cluster.machine.placement import RESOURCES
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType, Slowdowns, equal_processors
from jpo.plugins.cluster.queueing.selection import NAMES, selection
from jpo.plugins.cluster.queueing.simulate import BACKFILLINGS, Backfilling, Rule, simulate
from jpo.plugins.cluster.workload.demand import DemandTable, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable


@pytest.mark.parametrize(
    ("resources", "seconds", "joules"),
    [("high_gflops", 21 / 3.3, 661.818), ("high_mem_bw", 5.25, 563.182), ("low_power", 7.0, 595.0)],
)
def test_the_golden_values_of_the_bandwidth_model(
    sockets: Platform, two: tuple[JobTable, DemandTable], resources: str, seconds: float, joules: float
) -> None:
    schedule = run(*two, sockets, Discipline(selection("fcfs", seed=0), resources))
    assert schedule.ends.max() == pytest.approx(seconds)
    assert bill(*two, sockets, schedule).energy_joules == pytest.approx(joules, abs=0.001)


def test_bandwidth_may_be_shared_in_proportion(sockets: Platform, two: tuple[JobTable, DemandTable]) -> None:
    shared = replace(sockets, slowdowns=Slowdowns(conflict=None))
    schedule = run(*two, shared, Discipline(selection("fcfs", seed=0), "low_power"))
    assert schedule.ends.tolist() == pytest.approx([21 / (4 * 32 / 48)] * 2)


def test_a_conflict_ends_when_one_of_two_ends(sockets: Platform, two: tuple[JobTable, DemandTable]) -> None:
    """The shorter one does 9 GFLOP at 3 GFLOP/s; the longer one then has 12 left and does them at 4."""
    jobs, demand = two
    uneven = replace(jobs, run_seconds=np.array([9.0, 21.0]))
    schedule = run(uneven, demand, sockets, Discipline(selection("fcfs", seed=0), "low_power"))
    assert schedule.ends.tolist() == pytest.approx([3.0, 6.0])


@pytest.mark.parametrize("backfilling", BACKFILLINGS)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(jobs=traces())
def test_on_equal_processors_it_is_what_the_fast_loops_find(name: str, backfilling: Backfilling, jobs: JobTable) -> None:
    discipline = Discipline(selection(name, seed=1), "first", backfilling, seed=1)
    found = run(jobs, one_core_each(jobs), equal_processors(MACHINE), discipline)
    expected = simulate(jobs, MACHINE, Rule(name, backfilling), seed=1)
    assert found.starts.tolist() == expected.tolist()


GPU_NODE = NodeType("g", (ProcessorType("c", "cpu", 4), ProcessorType("a", "gpu", 2, 2.0, 100)), 8)
OLD_NODE = NodeType("o", (ProcessorType("c", "cpu", 2), ProcessorType("c", "cpu", 2), ProcessorType("b", "gpu", 3, 1.0, 50)), 6)
MIXED = Platform("mixed", (NodeGroup("x", GPU_NODE, 2), NodeGroup("y", OLD_NODE, 1)), Slowdowns(1.5, 2.0))


@st.composite
def mixed_work(draw: st.DrawFn) -> tuple[JobTable, DemandTable]:
    jobs = draw(traces())
    count = len(jobs)

    def column(low: int, high: int) -> np.ndarray:
        return np.array(draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    tasks, cpus, gpus = column(1, 3), column(1, 2), column(0, 2)
    kinds = tuple(draw(st.lists(st.sampled_from(["", "", "a", "b"]), min_size=count, max_size=count)))
    demand = DemandTable(
        tasks, cpus, gpus, column(0, 3).astype(float), np.zeros(count), kinds, ("",) * count, np.full(count, np.inf)
    )
    kept = np.setdiff1d(np.arange(count), never_fitting(demand, MIXED))
    return (jobs.rows(kept), demand.rows(kept)) if len(kept) else (jobs.rows(slice(1)), one_core_each(jobs.rows(slice(1))))


@pytest.mark.parametrize("backfilling", BACKFILLINGS)
@pytest.mark.parametrize("resources", RESOURCES)
@settings(max_examples=20)
@given(work=mixed_work())
def test_no_core_and_no_memory_is_held_twice_and_each_job_gets_what_it_asked(
    resources: str, backfilling: Backfilling, work: tuple[JobTable, DemandTable]
) -> None:
    jobs, demand = work
    schedule = run(jobs, demand, MIXED, Discipline(selection("sjf", seed=0), resources, backfilling))
    empty = Occupancy(MIXED)
    for job, allocation in enumerate(schedule.allocations):
        held = {"cpu": 0, "gpu": 0}
        for place, cores in allocation.cores:
            held[empty.types[place].kind] += cores
            assert not (empty.is_gpu[place] and demand.gpu_types[job] not in ("", empty.types[place].name))
        assert held == {"cpu": demand.tasks[job] * demand.cpus[job], "gpu": demand.tasks[job] * demand.gpus[job]}
    for moment in schedule.starts:
        there = [job for job in range(len(jobs)) if schedule.starts[job] <= moment < schedule.ends[job]]
        for place, processor in enumerate(empty.types):
            used = sum(cores for job in there for at, cores in schedule.allocations[job].cores if at == place)
            assert used <= processor.cores
        for node, (_, kind) in enumerate(MIXED.nodes):
            assert (
                sum(gib for job in there for at, gib in schedule.allocations[job].memory if at == node) <= kind.memory_gib + 1e-6
            )
    assert (schedule.starts >= jobs.submit_seconds).all()


def test_a_job_on_several_nodes_or_clusters_takes_longer() -> None:
    jobs = JobTable(np.array([1]), np.zeros(1), *[np.full(1, 60.0)] * 2, np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64))

    def end(tasks: int, gpus: int) -> float:
        one = one_core_each(jobs)
        demand = replace(one, tasks=np.array([tasks]), gpus=np.array([gpus]))
        return float(run(jobs, demand, MIXED, Discipline(selection("fcfs", seed=0), "first")).ends[0])

    assert [end(1, 2), end(2, 2), end(3, 2)] == [30, 45, 120]  # alone at speed 2; two nodes: x 1.5; two clusters, at speed 1: x 2


def test_a_class_has_its_own_speed_and_walltime_ends_jobs() -> None:
    kind = ProcessorType("a", "gpu", 1, 1.0, 0, speeds={"bert": 4.0})
    platform = Platform("p", (NodeGroup("c", NodeType("n", (kind,)), 1),))
    jobs = JobTable(np.array([1, 2]), np.zeros(2), np.array([8.0, 9.0]), np.array([8.0, 6.0]), np.ones(2, int), np.zeros(2, int))
    demand = replace(one_core_each(jobs), cpus=np.zeros(2, int), gpus=np.ones(2, int), classes=("bert", ""))
    schedule = run(jobs, demand, platform, Discipline(selection("fcfs", seed=0), kill=True))
    assert (schedule.ends.tolist(), schedule.killed) == ([2.0, 8.0], (False, True))


def test_a_job_that_could_never_run_is_an_error_not_a_wait() -> None:
    jobs = JobTable(np.array([7]), np.zeros(1), *[np.full(1, 60.0)] * 2, np.array([9]), np.zeros(1, dtype=np.int64))
    with pytest.raises(ValueError, match="job 7 could never run"):
        run(jobs, one_core_each(jobs), equal_processors(8), Discipline(selection("fcfs", seed=0)))
