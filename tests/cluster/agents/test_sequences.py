"""Sequences are parts of a workload, counted from their first job."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jpo.cluster.agents.sequences import Sequences, SeveralWorkloads


def test_a_sequence_lies_in_its_part_and_begins_at_zero(parts: Sequences) -> None:
    late = replace(parts, begin=0.5, end=0.7)
    for seed in range(20):
        jobs, demand, _ = late(np.random.default_rng(seed))
        assert len(jobs) == len(demand.tasks) == 48
        assert jobs.submit_seconds[0] == 0
        assert 200 < jobs.ids[0] <= jobs.ids[-1] <= 280


def test_of_several_workloads_each_is_drawn(parts: Sequences) -> None:
    several = SeveralWorkloads((replace(parts, length=5), replace(parts, length=7)))
    rng = np.random.default_rng(0)
    assert {len(several(rng)[0]) for _ in range(20)} == {5, 7}
