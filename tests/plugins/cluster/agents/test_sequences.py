"""Sequences are parts of a workload, counted from their first job."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jpo.plugins.cluster.agents.sequences import Sequences, SeveralWorkloads
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.lublin import draw_jobs


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


def test_parts_one_after_the_other_do_not_overlap() -> None:
    jobs = draw_jobs(100, 8, load=0.9, seed=1)
    parts = SeveralWorkloads((Sequences(jobs, one_core_each(jobs), equal_processors(8), 16, 0.0, 0.7),)).one_after_the_other()
    assert [len(one) for one, _, _ in parts] == [16] * 4
    assert [one.ids[0] for one, _, _ in parts] == jobs.ids[:64:16].tolist()
