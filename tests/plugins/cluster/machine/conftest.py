"""The platform of the golden values of the bandwidth model: one node with two sockets, and two jobs that want most of one's."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType
from jpo.plugins.cluster.workload.demand import DemandTable, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable

SLOW, FAST = ProcessorType("A", "cpu", 2, 4.0, 40, 32), ProcessorType("B", "cpu", 2, 4.4, 50, 32)


@pytest.fixture
def sockets() -> Platform:
    """Speeds in GFLOP/s, so that run times of jobs are GFLOP."""
    return Platform("sockets", (NodeGroup("c", NodeType("n", (SLOW, FAST), 32), 1),))


@pytest.fixture
def two() -> tuple[JobTable, DemandTable]:
    """Two jobs of 21 GFLOP on one core each, which want 24 GB/s."""
    gflop = np.full(2, 21.0)
    jobs = JobTable(np.array([1, 2]), np.zeros(2), gflop, gflop, np.ones(2, dtype=np.int64), np.zeros(2, dtype=np.int64))
    return jobs, one_core_each(jobs, bandwidth_gbps=np.full(2, 24.0))
