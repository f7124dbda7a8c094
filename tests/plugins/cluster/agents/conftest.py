"""A small workload with queues, on cores that draw power."""

from __future__ import annotations

import pytest

from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.platform.platform import NodeGroup, NodeType, Platform, ProcessorType
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.lublin import draw_jobs


@pytest.fixture
def parts() -> Sequences:
    jobs = draw_jobs(400, 32, load=1.2, seed=0)
    node = NodeType("node", (ProcessorType("core", "cpu", 32, watts=5.0),))
    return Sequences(jobs, one_core_each(jobs), Platform("metered", (NodeGroup("c", node, 1),)), 48)
