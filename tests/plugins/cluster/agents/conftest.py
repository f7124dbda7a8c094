"""A small workload with queues."""

from __future__ import annotations

import pytest

from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.lublin import draw_jobs


@pytest.fixture
def parts() -> Sequences:
    jobs = draw_jobs(400, 32, load=1.2, seed=0)
    return Sequences(jobs, one_core_each(jobs), equal_processors(32), 48)
