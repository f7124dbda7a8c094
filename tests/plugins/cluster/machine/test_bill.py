"""Energy and cost by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.cluster.machine.bill import bill, energy_of_jobs, spans, watts
from jpo.plugins.cluster.machine.discipline import Discipline, run
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, PowerShares, ProcessorType
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable


def test_a_processor_draws_by_how_many_of_its_cores_are_busy() -> None:
    slow = ProcessorType("A", "cpu", 2, 4.0, 40, 32)
    assert [watts(slow, busy, PowerShares()) for busy in range(3)] == pytest.approx([4.0, 40 + 6 + 4, 80.0])


def test_spans_reach_from_begin_to_end() -> None:
    assert list(spans([(2.0, 1), (3.0, 1), (3.0, -1), (5.0, -1)], 0.0, 6.0)) == [(2, 0), (1, 1), (2, 1), (1, 0)]


def test_a_node_is_paid_for_while_a_job_is_on_it() -> None:
    node = NodeType("n", (ProcessorType("c", "cpu", 2, 1.0, 10.0),), usd_per_hour=3.0)
    platform = Platform("p", (NodeGroup("c", node, 2),))
    column = np.array
    jobs = JobTable(column([1, 2]), column([0.0, 1800.0]), *[column([3600.0, 3600.0])] * 2, column([1, 1]), column([0, 0]))
    demand = replace(one_core_each(jobs), deadlines=column([3600.0, 3599.0]))
    found = bill(jobs, demand, platform, run(jobs, demand, platform, Discipline(selection("fcfs", seed=0))))
    assert found.cost_usd == pytest.approx(4.5)  # one node for 1.5 h
    free = replace(platform, groups=(replace(platform.groups[0], node=replace(node, usd_per_hour=0.0)),))
    assert bill(jobs, demand, free, run(jobs, demand, free, Discipline(selection("fcfs", seed=0)))).cost_usd is None
    half = (10 + 1.5 + 1) * 1800
    assert found.energy_joules == pytest.approx(2 * half + 20 * 1800 + 1 * 5400)
    assert found.edp_joule_seconds == pytest.approx(found.energy_joules * 5400)
    assert (found.gpu_utilisation, found.cpu_utilisation, found.sla_misses) == (None, pytest.approx(7200 / (4 * 5400)), 1)


def test_jobs_share_what_their_processor_draws() -> None:
    """Two on one processor of 2 cores at 10 W: alone a job pays for both of its processor's halves, together each for its own."""
    platform = Platform("p", (NodeGroup("c", NodeType("n", (ProcessorType("c", "cpu", 2, 1.0, 10.0),)), 2),))
    column = np.array
    jobs = JobTable(column([1, 2]), column([0.0, 30.0]), *[column([60.0, 60.0])] * 2, column([1, 1]), column([0, 0]))
    schedule = run(jobs, one_core_each(jobs), platform, Discipline(selection("fcfs", seed=0)))
    found = energy_of_jobs(platform, schedule)
    assert found.tolist() == pytest.approx([12.5 * 30 + 10 * 30] * 2)
    whole = bill(jobs, one_core_each(jobs), platform, schedule)
    assert found.sum() + 1.0 * 90 == pytest.approx(whole.energy_joules)  # the second node idles for 90 s at 5% of 20 W
