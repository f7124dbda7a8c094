from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.empirical_bayes import PARTS, PSEUDO_JOBS, reweighted


def test_without_finished_jobs_there_is_no_prior_to_learn() -> None:
    assert reweighted([]) == {}


def test_each_job_adds_its_weight_to_the_part_where_its_latent_is() -> None:
    positions = {"half saturation": np.array([0.05, 0.95])}
    (weights,) = reweighted([(positions, np.array([0.75, 0.25]))] * 2).values()
    uniform = PSEUDO_JOBS / PARTS
    assert weights == pytest.approx([uniform + 1.5, *[uniform] * (PARTS - 2), uniform + 0.5])


def test_a_latent_that_only_one_job_has_counts_that_job_alone() -> None:
    one, other = ({"overlap": np.array([0.5])}, np.ones(1)), ({"loading": np.array([0.5])}, np.ones(1))
    learnt = reweighted([one, other, other])
    assert {name: round(sum(weights) - PSEUDO_JOBS) for name, weights in learnt.items()} == {"overlap": 1, "loading": 2}
