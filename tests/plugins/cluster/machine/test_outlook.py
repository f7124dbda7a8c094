"""Phases of memory bandwidth by hand: sockets with 32 GB/s, jobs of 20 s whose one core wants 24 GB/s half of the time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.machine.discipline import Discipline, run
from jpo.plugins.cluster.machine.occupancy import Need, Occupancy
from jpo.plugins.cluster.machine.outlook import overload, wanted_gbps
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.workload.demand import Phases, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.plugins.cluster.workload.training_jobs import read_training_jobs

EARLY: Phases = ((10.0, 24.0), (10.0, 0.0))
LATE: Phases = ((10.0, 0.0), (10.0, 24.0))


def platform(sockets: int, cores: int = 3) -> Platform:
    socket = ProcessorType("s", "cpu", cores, bandwidth_gbps=32)
    return Platform("p", (NodeGroup("c", NodeType("n", (socket,)), sockets),))


def ends(sockets: int, resources: str, phases: list[Phases], cores: int = 3) -> list[float]:
    count = len(phases)
    column = np.full(count, 20.0)
    jobs = JobTable(
        np.arange(count), np.zeros(count), column, column, np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    )
    demand = replace(one_core_each(jobs, bandwidth_gbps=np.full(count, 12.0)), phases=tuple(phases))
    schedule = run(jobs, demand, platform(sockets, cores), Discipline(selection("fcfs", seed=0), resources))
    return schedule.ends.tolist()


def test_a_conflict_lasts_as_long_as_busy_phases_meet() -> None:
    assert ends(1, "first", [EARLY, LATE]) == [20, 20]
    assert ends(1, "first", [EARLY, EARLY]) == pytest.approx([10 / 0.75 + 10] * 2)


def test_a_job_ends_with_the_bandwidth_that_it_began_with() -> None:
    assert ends(1, "first", [LATE, LATE, EARLY], cores=1) == [20, 40, 60]


def test_phase_pack_puts_jobs_where_their_busy_phases_do_not_meet() -> None:
    jobs = [EARLY, LATE, EARLY, LATE]
    assert max(ends(2, "first", [EARLY, EARLY, LATE, LATE], cores=2)) > 20
    assert ends(2, "phase_pack", [EARLY, EARLY, LATE, LATE], cores=2) == [20] * 4
    assert ends(2, "phase_pack", jobs, cores=2) == [20] * 4


def test_what_is_wanted_goes_round_and_overload_is_a_mean() -> None:
    need = Need(1, 1, 0, 0.0, 24.0, "", EARLY)
    assert [wanted_gbps(need, at) for at in (0.0, 9.9, 10.0, 20.0, 35.0)] == [24, 24, 0, 24, 0]
    state = Occupancy(platform(1))
    assert overload(state, 0, need) == 0
    state.outlook = lambda place: [(need, 1, 0.0)]
    assert overload(state, 0, need) == 16 / 2


def test_a_table_of_jobs_carries_phases(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text("id,submit,duration,cpus,phases\na,0,20,1,10:24 10:0\nb,0,20,1,\n")
    demand = read_training_jobs(file).demand
    assert (demand.phases, demand.bandwidth_gbps.tolist()) == ((EARLY, ()), [12.0, 0.0])
    for cell, told in (("10", "phases has '10'"), ("0:3", "phases has '0:3'"), ("1e-9:3", "more than 10000 cycles")):
        file.write_text(f"id,submit,duration,cpus,phases\na,0,20,1,{cell}\n")
        with pytest.raises(UsageError, match=told):
            read_training_jobs(file)
