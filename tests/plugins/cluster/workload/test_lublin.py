"""Drawn jobs: in range, repeatable, and as heavy as asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jpo.plugins.cluster.machine.discipline import never_fitting
from jpo.plugins.cluster.platform.described import read_platform
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.lublin import draw_jobs, draw_work


def test_the_same_seed_draws_the_same_jobs_and_another_draws_others() -> None:
    one, again, other = (draw_jobs(200, 64, load=0.8, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.submit_seconds, again.submit_seconds)
    assert not np.array_equal(one.run_seconds, other.run_seconds)


@pytest.mark.parametrize("processors", [1, 2, 3, 256])
def test_jobs_fit_the_machine_and_request_no_less_than_they_run(processors: int) -> None:
    jobs = draw_jobs(500, processors, load=0.9, seed=0)
    assert jobs.processors.max() <= processors
    assert (jobs.requested_seconds >= jobs.run_seconds).all()
    assert (jobs.submit_seconds >= 0).all()


def test_the_load_is_what_was_asked_for() -> None:
    jobs = draw_jobs(4000, 128, load=0.7, seed=1)
    span = jobs.submit_seconds[-1] - jobs.submit_seconds[0]
    assert float(jobs.run_seconds @ jobs.processors) / (128 * span) == pytest.approx(0.7, rel=0.05)


def test_on_a_platform_with_gpus_jobs_of_gpus_are_drawn_which_fit_its_nodes() -> None:
    platform = read_platform(Path(__file__).parents[4] / "examples/cluster/gpus.toml")
    jobs, demand = draw_work(400, platform, load=0.9, seed=3)
    assert (demand.gpus >= 1).all()
    assert np.array_equal(jobs.processors, demand.tasks * demand.gpus)
    assert demand.tasks.max() > 1
    assert not never_fitting(demand, platform)
    assert set(demand.classes) == {""}
    cpus = draw_work(40, equal_processors(16), load=0.9, seed=3)
    assert np.array_equal(cpus[1].tasks, draw_jobs(40, 16, load=0.9, seed=3).processors)
