"""Energy and cost by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.cluster.machine.bill import bill, spans, watts
from jpo.cluster.machine.discipline import Discipline, run
from jpo.cluster.platform.platform import NodeGroup, NodeType, Platform, PowerShares, ProcessorType
from jpo.cluster.queueing.selection import selection
from jpo.cluster.workload.demand import one_core_each
from jpo.cluster.workload.jobs import JobTable


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
    half = (10 + 1.5 + 1) * 1800
    assert found.energy_joules == pytest.approx(2 * half + 20 * 1800 + 1 * 5400)
    assert found.edp_joule_seconds == pytest.approx(found.energy_joules * 5400)
    assert (found.gpu_utilisation, found.cpu_utilisation, found.sla_misses) == (None, pytest.approx(7200 / (4 * 5400)), 1)
