"""Elastic jobs: what happens by hand; work, area and capacity conserved; rigid ones as without."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import traces

from jpo.plugins.cluster.grid import Scenario, Site, evaluate, schedule_metrics
from jpo.plugins.cluster.machine.bill import bill, energy_of_jobs
from jpo.plugins.cluster.machine.discipline import Discipline, Manager, never_fitting, run
from jpo.plugins.cluster.machine.elastic import Resizing, at_least
from jpo.plugins.cluster.machine.occupancy import Occupancy
from jpo.plugins.cluster.machine.simulation import Schedule, Simulation
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType, ResizeCosts
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.queueing.simulate import BACKFILLINGS, Backfilling, Rule
from jpo.plugins.cluster.workload.demand import DemandTable, Elasticity, one_core_each, speedup
from jpo.plugins.cluster.workload.jobs import JobTable

COSTS = ResizeCosts(serial_share=0.5, resize_seconds=10, cooldown_seconds=100)
GPU = ProcessorType("a", "gpu", 4, 1.0, 100.0)
BOX = Platform("box", (NodeGroup("c", NodeType("n", (ProcessorType("c", "cpu", 8), GPU), 16, 1.0), 1),), elastic=COSTS)


def work(*rows: tuple[float, float, int, int, int]) -> tuple[JobTable, DemandTable]:
    """Jobs of one GPU for each task: submit, run, tasks, min_tasks, max_tasks."""
    submit, run_seconds, tasks, least, most = (np.array(column) for column in zip(*rows, strict=True))
    count = len(rows)
    run_seconds = run_seconds.astype(float)
    jobs = JobTable(
        np.arange(1, count + 1), submit.astype(float), run_seconds, run_seconds, tasks, np.zeros(count, dtype=np.int64)
    )
    ones, nothing = np.ones(count, dtype=np.int64), np.zeros(count)
    ranges = Elasticity(least, most, np.full(count, np.nan))
    demand = DemandTable(
        *(tasks, 0 * ones, ones, nothing, nothing, ("",) * count, ("",) * count, nothing + np.inf), elasticity=ranges
    )
    return jobs, demand


def elastic(jobs: JobTable, demand: DemandTable, platform: Platform = BOX, backfilling: Backfilling = "none") -> Schedule:
    return run(jobs, demand, platform, Discipline(selection("fcfs", seed=0), "first", backfilling, elastic=True))


def test_a_job_starts_with_all_that_is_free_in_its_range_at_no_cost() -> None:
    """One task takes 100 s; half is serial, so that four take 100 (.5 + .5 / 4) = 62.5 s."""
    found = elastic(*work((0, 100, 1, 1, 4)))
    assert found.ends.tolist() == [62.5]
    assert [(stay.begin, stay.end) for stay in found.expansions] == [(0, 62.5)] * 3
    assert found.resizes == 0


def test_a_job_is_shrunk_where_another_can_start_and_pauses() -> None:
    """After 10 s on four GPUs 16 of 100 s are done; 10 s of pause, then 84 s on two GPUs, which are 4/3 as fast as one: 63 s."""
    found = elastic(*work((0, 100, 1, 1, 4), (10, 50, 2, 2, 2)))
    assert found.starts.tolist() == [0, 10]
    assert found.ends.tolist() == pytest.approx([10 + 10 + 63, 60])
    assert found.resizes == 1


def test_a_job_grows_when_devices_are_left_and_the_cooldown_is_over() -> None:
    """As above, but long: at 60 s two GPUs are free, but it was resized at 10 s; at 110 s it grows, and pauses again."""
    found = elastic(*work((0, 1000, 1, 1, 4), (10, 50, 2, 2, 2)))
    done = 10 * 1.6 + (110 - 20) * 4 / 3
    assert found.ends.tolist() == pytest.approx([120 + (1000 - done) / 1.6, 60])
    assert sorted((stay.begin, stay.end) for stay in found.expansions)[:3] == [(0, 10), (0, 10), (0, found.ends[0])]
    assert found.resizes == 2


def test_a_job_does_not_grow_for_less_than_its_pause() -> None:
    found = elastic(*work((0, 40, 3, 3, 3), (0, 60, 1, 1, 4)))
    assert found.ends.tolist() == [40, 60]
    assert not found.expansions


def test_area_energy_and_cost_count_what_was_held_besides() -> None:
    """One job on four GPUs for 62.5 s: all of them busy."""
    jobs, demand = work((0, 100, 1, 1, 4))
    schedule = elastic(jobs, demand)
    assert schedule_metrics(jobs, demand, 4, schedule).utilisation == 1.0
    owed = bill(jobs, demand, BOX, schedule)
    assert (owed.gpu_utilisation, owed.energy_joules, owed.cost_usd) == (1.0, 25_000, 62.5 / 3600)
    assert energy_of_jobs(BOX, schedule).tolist() == [25_000]
    found = evaluate(Scenario("t", jobs, 4, site=Site(BOX, demand)), Rule("fcfs", elastic=True))
    assert (found.rule.name, found.resizes, found.metrics.makespan_seconds) == ("fcfs+elastic", 0, 62.5)


NODES = (
    NodeType("g", (ProcessorType("c", "cpu", 4), ProcessorType("a", "gpu", 3)), 8),
    NodeType("h", (ProcessorType("c", "cpu", 4, bandwidth_gbps=30.0), ProcessorType("c", "cpu", 2)), 6),
)
QUICK = ResizeCosts(serial_share=0.5, resize_seconds=1, cooldown_seconds=15)
MIXED = Platform("mixed", tuple(NodeGroup("x", node, 2) for node in NODES), elastic=QUICK)


@st.composite
def elastic_work(draw: st.DrawFn, bandwidth: float = 0.0) -> tuple[JobTable, DemandTable]:
    jobs = draw(traces())
    count = len(jobs)

    def column(low: int, high: int) -> np.ndarray:
        return np.array(draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    tasks, gpus = column(1, 3), column(0, 1)
    least, most = np.minimum(column(1, 3), tasks), tasks + column(0, 3)
    shares = column(0, 11) / 10
    shares[shares > 1] = np.nan
    demand = DemandTable(
        *(tasks, column(1, 2), gpus, column(0, 2).astype(float), np.full(count, bandwidth), ("",) * count, ("",) * count),
        np.full(count, np.inf),
        elasticity=Elasticity(least, most, shares),
    )
    kept = np.setdiff1d(np.arange(count), never_fitting(demand, MIXED))
    if not len(kept):
        first = jobs.rows(slice(1))
        return first, one_core_each(replace(first, processors=np.ones(1, dtype=np.int64)))
    return jobs.rows(kept), demand.rows(kept)


@pytest.mark.parametrize("resources", ["first", "spread", "best_fit", "random"])
@pytest.mark.parametrize("backfilling", BACKFILLINGS)
@settings(max_examples=20, deadline=None)
@given(work=elastic_work(), selected=st.sampled_from(["fcfs", "sjf", "wfp3"]))
def test_work_and_capacity_are_conserved(
    backfilling: Backfilling, resources: str, selected: str, work: tuple[JobTable, DemandTable]
) -> None:
    """The work of each job is what its tasks did by Amdahl's law, without the pauses; nothing is held twice; seeds repeat."""
    jobs, demand = work
    rule = Discipline(selection(selected, seed=0), resources, backfilling, elastic=True)
    schedule = run(jobs, demand, MIXED, rule)
    assert run(jobs, demand, MIXED, rule).ends.tolist() == schedule.ends.tolist()
    least = demand.tasks if schedule.least_tasks is None else schedule.least_tasks
    for job in range(len(jobs)):
        assert done_seconds(schedule, job, demand, int(least[job])) == pytest.approx(jobs.run_seconds[job], abs=1e-6)
    stays = list(schedule.stays())
    state = Occupancy(MIXED)
    for moment in {stay.begin for stay in stays}:
        there = [stay.holding for stay in stays if stay.begin <= moment < stay.end]
        for place, processor in enumerate(state.types):
            assert sum(cores for one in there for at, cores in one.cores if at == place) <= processor.cores
        for node, (_, kind) in enumerate(MIXED.nodes):
            assert sum(gib for one in there for at, gib in one.memory if at == node) <= kind.memory_gib + 1e-6


def done_seconds(schedule: Schedule, job: int, demand: DemandTable, least: int) -> float:
    """How many seconds of work on the tasks that it asked for a job has done, all devices being equal."""
    start, end = schedule.starts[job], schedule.ends[job]
    stays = [stay for stay in schedule.expansions if stay.job == job and stay.end > stay.begin]
    changes = sorted({start, end, *(moment for stay in stays for moment in (stay.begin, stay.end))})
    done = 0.0
    for begin, stop in pairwise(changes):
        tasks = least + sum(stay.begin <= begin < stay.end for stay in stays)
        working = max(stop - begin - (QUICK.resize_seconds if begin > start else 0.0), 0.0)
        share = demand.elasticity.serial_shares[job] if demand.elasticity else 0.0
        shares = np.full(2, QUICK.serial_share if np.isnan(share) else share)
        fast, asked = speedup(np.array([tasks, demand.tasks[job]]), shares)
        done += working * fast / asked
        assert tasks <= (demand.elasticity.max_tasks[job] if demand.elasticity else least)
    return done


@pytest.mark.parametrize("backfilling", BACKFILLINGS)
@settings(max_examples=20, deadline=None)
@given(work=elastic_work(bandwidth=12.0))
def test_an_elastic_run_of_rigid_jobs_is_the_rigid_run(backfilling: Backfilling, work: tuple[JobTable, DemandTable]) -> None:
    """Also where a single job could be resized and comes when all others are gone: the rest of the run is that of Resizing."""
    jobs, demand = work
    tasks = demand.tasks
    rigid = replace(demand, elasticity=Elasticity(tasks, tasks, np.zeros(len(jobs))))
    rule = Discipline(selection("sjf", seed=0), "best_fit", backfilling)
    expected = run(jobs, demand, MIXED, rule)
    found = run(jobs, rigid, MIXED, replace(rule, elastic=True))
    assert (found.starts.tolist(), found.ends.tolist()) == (expected.starts.tolist(), expected.ends.tolist())
    assert found.allocations == expected.allocations
    last, late = (
        len(jobs) - 1,
        replace(jobs, submit_seconds=jobs.submit_seconds + np.where(np.arange(len(jobs)) == len(jobs) - 1, 1e9, 0)),
    )
    most = tasks + np.where(np.arange(len(jobs)) == last, 2, 0)
    one = replace(demand, elasticity=Elasticity(tasks, most, np.zeros(len(jobs))))
    expected, found = run(late, demand, MIXED, rule), run(late, one, MIXED, replace(rule, elastic=True))
    assert (found.starts.tolist(), found.ends[:last].tolist()) == (expected.starts.tolist(), expected.ends[:last].tolist())
    assert found.allocations[:last] == expected.allocations[:last]


@settings(max_examples=60, deadline=None)
@given(work=elastic_work(bandwidth=12.0), phased=st.booleans())
def test_all_is_free_in_the_end(work: tuple[JobTable, DemandTable], *, phased: bool) -> None:
    """Cores, memory and bandwidth, whatever was resized in which phase."""
    jobs, demand = work
    if phased:
        demand = replace(demand, phases=(((5.0, 20.0), (7.0, 3.0)),) * len(jobs))
    if demand.elasticity is None:
        return
    assert_all_is_free_in_the_end(jobs, demand, MIXED)


def test_bandwidth_of_a_phase_is_given_back_in_that_phase() -> None:
    """The first job has four tasks from the start and is shrunk at 6 s, in its second phase."""
    jobs, demand = work((0, 100, 1, 1, 4), (6, 50, 2, 2, 2))
    demand = replace(demand, cpus=demand.gpus, gpus=demand.cpus, phases=(((5.0, 20.0), (7.0, 3.0)), ()))
    demand = replace(demand, bandwidth_gbps=np.array([12.0, 0.0]))
    box = NodeType("n", (ProcessorType("c", "cpu", 4, bandwidth_gbps=100.0),))
    assert_all_is_free_in_the_end(jobs, demand, Platform("p", (NodeGroup("c", box, 1),)))


def assert_all_is_free_in_the_end(jobs: JobTable, demand: DemandTable, platform: Platform) -> None:
    slower, least, ranges = at_least(jobs, demand, platform.elastic)
    simulation = Simulation(slower, least, platform)
    manager = Manager(simulation, jobs, demand, Discipline(selection("fcfs", seed=0), "phase_pack", "easy"))
    resizing = Resizing(simulation, manager, ranges, platform.elastic)
    try:
        while True:
            ended, came = simulation.advance(resizing.wake)
            resizing.decide(came, ended)
    except StopIteration:
        empty = Occupancy(platform)
        for name in ("free", "memory", "bandwidth", "free_cpus", "left"):
            assert getattr(simulation.state, name) == getattr(empty, name)
