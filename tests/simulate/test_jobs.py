from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weighted_latents import UNIFORM, RangeWeights, weighted

from jpo.records import Candidates, Draws
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.jobs import _local_noise, jobs_of
from jpo.simulate.latents import Latents

TO_TARGET: RangeWeights = {"to target": (1.0, 1e-12)}
FIXED: RangeWeights = {"to target": (1e-12, 1.0)}


def candidates(names: tuple[str, ...], rows: list[list[float]], current: int = 0) -> Candidates:
    return Candidates(names, np.array(rows, dtype=np.float64), current, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def jobs(grid: Candidates, number: int, prior: RangeWeights = UNIFORM) -> Draws:
    return jobs_of(grid, weighted(number, int(rng().integers(2**63)), prior))


@given(seed=st.integers(0, 2**32 - 1), prior=st.sampled_from([UNIFORM, TO_TARGET, FIXED]))
@settings(max_examples=40)
def test_draws_are_finite_of_the_right_shape_and_zero_today(seed: int, prior: RangeWeights) -> None:
    grid = random_candidates(rng(seed))
    draws = jobs_of(grid, weighted(7, seed, prior))
    for logs in (draws.log_time, draws.log_loss, draws.log_utilisation, draws.log_power):
        assert logs.shape == (7, len(grid.values))
        assert np.isfinite(logs).all()
        assert (logs[:, grid.current] == 0).all()
    assert draws.fails.shape == (7, len(grid.values))


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e12, 1e308])
@pytest.mark.parametrize("name", ["batch_size", "learning_rate", "num_layers", "epochs", "gpus", "cpus", "memory_gib"])
def test_absurd_values_of_one_parameter_stay_finite(name: str, value: float) -> None:
    with np.errstate(all="raise", under="ignore"):
        draws = draw_jobs(candidates((name,), [[4.0], [value]]), 50, rng())
    assert np.isfinite(draws.log_time).all()
    assert np.isfinite(draws.log_loss).all()
    assert np.isfinite(draws.log_utilisation).all()
    assert np.isfinite(draws.log_power).all()


def test_the_same_seed_draws_the_same_jobs_and_another_seed_others() -> None:
    grid = candidates(("batch_size",), [[32], [64]])
    first, again, other = (draw_jobs(grid, 20, rng(seed)).log_time for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_todays_configuration_works_in_nearly_all_jobs() -> None:
    grid = random_candidates(rng(3))
    assert 0.0 <= draw_jobs(grid, 5000, rng()).fails[:, grid.current].mean() < 0.04


def test_epochs_make_fixed_jobs_longer_and_their_loss_lower() -> None:
    at_once: RangeWeights = {**FIXED, "start": (1.0, *[1e-12] * 9)}
    draws = jobs(candidates(("epochs",), [[10], [20]]), 2000, at_once)
    assert np.median(draws.log_time[:, 1]) == pytest.approx(np.log(2), abs=0.02)
    assert np.median(draws.log_loss[:, 1]) < -0.05
    assert not draws.fails.any()


def test_epochs_only_cap_jobs_that_train_to_a_target() -> None:
    draws = jobs(candidates(("epochs",), [[20], [10], [40]]), 2000, TO_TARGET)
    assert np.median(draws.log_time, axis=0) == pytest.approx([0, 0, 0], abs=0.02)
    assert draws.fails[:, 1].mean() == pytest.approx(np.log(1.05 / 0.5) / np.log(1.05 / 0.1), abs=0.05)  # share of the cap > 1/2
    assert not draws.fails[:, 2].any()


def test_too_little_memory_fails_more_often_and_never_changes_speed() -> None:
    draws = jobs(candidates(("memory_gib",), [[16], [8], [2], [32]]), 2000, FIXED)
    shares = draws.fails.mean(axis=0)
    assert shares[3] == 0
    assert shares[0] < 0.02 < shares[1] < shares[2]
    assert np.median(draws.log_time, axis=0) == pytest.approx(np.zeros(4), abs=0.02)


def test_a_learning_rate_far_above_todays_diverges_and_one_far_below_only_takes_longer() -> None:
    draws = jobs(candidates(("learning_rate",), [[0.01], [1.0], [0.0001]]), 2000, FIXED)
    assert draws.fails.mean(axis=0) == pytest.approx([0.0, 0.97, 0.0], abs=0.02)
    assert np.median(draws.log_loss[:, 2]) > 0.02


def test_layers_make_each_step_longer() -> None:
    draws = jobs(candidates(("num_layers",), [[2], [1], [4]]), 2000, FIXED)
    half, _, double = np.median(draws.log_time, axis=0)[[1, 0, 2]]
    assert half < -0.1 < 0.1 < double


def test_larger_batches_take_fewer_steps_and_do_not_fit_on_every_gpu() -> None:
    draws = jobs(candidates(("batch_size", "gpus"), [[64, 1], [128, 1], [1024, 1]]), 2000, FIXED)
    assert -np.log(2) < np.median(draws.log_time[:, 1]) < -0.1
    assert 0 < draws.fails[:, 1].mean() < draws.fails[:, 2].mean() < 0.1


def test_gpus_save_time_in_most_jobs_less_than_in_proportion_and_are_less_busy() -> None:
    draws = jobs(candidates(("batch_size", "gpus"), [[256, 1], [256, 4]]), 2000, FIXED)
    assert -np.log(4) < np.median(draws.log_time[:, 1]) < 0
    assert np.median(draws.log_utilisation[:, 1]) < 0
    assert (draws.log_time[:, 1] > 0).mean() > 0.1


def test_without_gpus_threads_help_large_batches_and_slow_some_small_ones_down() -> None:
    grid = candidates(("batch_size", "cpus"), [[4, 1], [4, 16], [1024, 1], [1024, 16]])
    time = jobs(grid, 2000, FIXED).log_time
    small, large = time[:, 1] - time[:, 0], time[:, 3] - time[:, 2]
    assert np.median(large) < np.median(small)
    assert 0.3 < (small > 0.1).mean() < 0.9


def test_a_job_that_leaves_its_gpus_gets_slower() -> None:
    draws = draw_jobs(candidates(("gpus", "cpus"), [[1, 4], [0, 4]]), 500, rng())
    assert (draws.log_time[:, 1] > 0.5).mean() > 0.9


def test_a_job_keeps_its_numbers_on_another_set_of_candidates() -> None:
    """Every number has a stream of its own: job 17 of a seed is the same job wherever it runs."""
    few, many = Latents(50, 7), Latents(50, 7)
    jobs_of(candidates(("batch_size",), [[32], [64]]), few)
    jobs_of(candidates(("batch_size", "gpus", "cpus"), [[32, 1, 2], [64, 2, 2], [64, 4, 8]]), many)
    shared = few.drawn.keys() & many.drawn.keys()
    assert len(shared) > 20
    assert all((few.drawn[name] == many.drawn[name]).all() for name in shared)


def test_a_job_is_the_same_with_a_candidate_more_up_to_its_luck() -> None:
    """As far as is documented: with the same range of the batch size, only what each configuration has for itself differs."""
    no_luck: RangeWeights = {
        "luck of time is none": (1.0, 1e-12, 1e-12, 1e-12),
        "luck of loss is none": (1.0, 1e-12, 1e-12, 1e-12),
    }
    three = jobs_of(candidates(("batch_size",), [[32], [64], [256]]), weighted(200, 3, no_luck))
    four = jobs_of(candidates(("batch_size",), [[32], [64], [256], [128]]), weighted(200, 3, no_luck))
    assert four.log_time[:, :3] == pytest.approx(three.log_time)
    assert four.log_loss[:, :3] == pytest.approx(three.log_loss)
    assert (four.fails[:, :3] == three.fails).all()


def test_the_start_is_a_share_that_no_configuration_shortens() -> None:
    slow: RangeWeights = {**FIXED, "start": (1e-12, 1e-12, 1e-12, 1e-12, 1.0)}  # 13 to 30% of today's run
    draws = jobs(candidates(("epochs",), [[100], [1]]), 500, slow)
    assert np.median(np.exp(draws.log_time[:, 1])) == pytest.approx(0.21, abs=0.03)


def test_half_of_the_jobs_that_train_to_a_target_stop_after_whole_epochs() -> None:
    grid = candidates(("batch_size",), [[32], [64]])
    whole, free = (
        jobs_of(grid, weighted(300, 0, {**TO_TARGET, "whole epochs": weights})) for weights in ((1.0, 1e-12), (1e-12, 1.0))
    )
    assert (whole.log_time != free.log_time).mean() > 0.3


def test_loss_has_a_floor_and_a_gap_with_the_batch_in_three_of_ten_jobs() -> None:
    more = jobs(candidates(("epochs",), [[1], [2**30]]), 500, FIXED)
    assert np.exp(more.log_loss[:, 1]).min() > 0.17  # the floor is at least .2 of today's, but for luck
    grid = candidates(("batch_size",), [[32], [512], [4]])
    with_gap, without = (jobs(grid, 500, {**FIXED, "gap": weights}) for weights in ((1, 1e-12, 1e-12, 1e-12), (1e-12, 1, 1, 1)))
    difference = with_gap.log_loss[:, 1] - without.log_loss[:, 1]
    assert with_gap.log_loss[:, 2] == pytest.approx(without.log_loss[:, 2])
    assert np.all(difference[np.abs(difference) > 1e-9] > 0)
    assert 0.02 < difference.mean() < 0.15  # four doublings of 0 to 5%


def test_luck_is_none_in_three_of_ten_jobs_and_differs_between_neighbours() -> None:
    latents = weighted(2000, 0, {"luck of time": (1e-12, 1.0)})
    luck = _local_noise(latents, "luck of time", 0.15, 2)
    assert (luck == 0).all(axis=1).mean() == pytest.approx(0.3, abs=0.03)
    assert luck[luck.any(axis=1)].std() == pytest.approx(0.11, abs=0.01)
    assert abs(np.corrcoef(luck[:, 0], luck[:, 1])[0, 1]) < 0.1
