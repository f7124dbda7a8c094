from __future__ import annotations

import math

import numpy as np
import pytest
from weighted_latents import weighted

from jpo.simulate.latents import Latents


def test_a_name_gives_the_same_numbers_in_any_order_of_draws() -> None:
    latents, other = Latents(9, 5), Latents(9, 5)
    first = latents.uniform("a", 0, 1)
    other.uniform("b", 0, 1)
    other.rng("c").random(100)
    assert (other.uniform("a", 0, 1) == first).all()
    assert (latents.uniform("b", 0, 1) != first).all()


def test_more_jobs_begin_with_the_same_jobs() -> None:
    assert (Latents(9, 5).uniform("a", 0, 1) == Latents(20, 5).uniform("a", 0, 1)[:9]).all()


def test_another_seed_gives_other_numbers() -> None:
    assert (Latents(9, 5).uniform("a", 0, 1) != Latents(9, 6).uniform("a", 0, 1)).all()


def test_numbers_fill_their_range_one_per_job() -> None:
    numbers = Latents(5000, 0).uniform("a", -2, 6)
    assert numbers.shape == (5000, 1)
    assert (numbers.min(), numbers.mean(), numbers.max()) == pytest.approx((-2, 2, 6), abs=0.1)


def test_the_logarithm_of_a_log_uniform_number_is_uniform() -> None:
    numbers = Latents(5000, 0).log_uniform("a", 0.01, 100)
    assert np.median(numbers) == pytest.approx(1, rel=0.1)
    assert (numbers < 0.1).mean() == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_a_share_of_the_jobs_says_yes(probability: float) -> None:
    assert Latents(5000, 0).happens("a", probability).mean() == pytest.approx(probability, abs=0.02)


def test_what_was_drawn_is_kept_as_a_place_in_zero_to_one() -> None:
    latents = Latents(3, 0)
    numbers = latents.log_uniform("a", 1, math.e)
    assert latents.drawn["a"] == pytest.approx(np.log(numbers[:, 0]))


def test_a_prior_moves_numbers_to_the_parts_that_weigh() -> None:
    """Weights 3 : 1 of the two halves: three quarters of the numbers lie in the lower one, and each half is filled evenly."""
    numbers = weighted(8000, 0, {"a": (3.0, 1.0)}).uniform("a", 0, 1)
    assert (numbers < 0.5).mean() == pytest.approx(0.75, abs=0.02)
    assert numbers[numbers < 0.5].mean() == pytest.approx(0.25, abs=0.01)
    assert numbers[numbers > 0.5].mean() == pytest.approx(0.75, abs=0.01)


def test_weights_need_no_sum_and_equal_ones_change_nothing() -> None:
    plain, equal = (weighted(9, 0, prior).uniform("a", 0, 1) for prior in ({}, {"a": (7.0, 7.0, 7.0)}))
    assert equal == pytest.approx(plain)


def test_a_prior_on_one_name_leaves_the_others() -> None:
    assert (weighted(9, 0, {"a": (1.0, 9.0)}).uniform("b", 0, 1) == Latents(9, 0).uniform("b", 0, 1)).all()
