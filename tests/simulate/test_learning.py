from __future__ import annotations

import numpy as np
import pytest
from weighted_latents import RangeWeights, weighted

from jpo.records import Candidates
from jpo.simulate.knobs import Knobs, knobs_of
from jpo.simulate.latents import Latents
from jpo.simulate.learning import _batch_size, _layers, _learning_rate, epochs_factor

JOBS = 1500


def knobs(names: tuple[str, ...], *rows: tuple[float, ...]) -> Knobs:
    return knobs_of(
        Candidates(names, np.array(rows, dtype=np.float64), 0, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))
    )


def latents(prior: RangeWeights | None = None, jobs: int = JOBS) -> Latents:
    return weighted(jobs, 0, prior or {})


def test_today_is_the_reference_and_does_not_diverge() -> None:
    names = ("batch_size", "learning_rate", "num_layers", "momentum")
    factor, diverges = epochs_factor(knobs(names, (32, 0.1, 2, 0.9), (64, 1.0, 3, 0.5)), latents())
    assert not factor[:, 0].any()
    assert not diverges[:, 0].any()


def test_batch_size_by_hand() -> None:
    """(1 + 2^(b - critical)) (1 + 2^(p (small - b))) with the second factor only where training is unsettled."""
    drawn = latents(jobs=50)
    factor = _batch_size(knobs(("batch_size",), (32,), (128,), (32,)), drawn)
    small = drawn.uniform("small batch", -4, 1)
    near, far = drawn.uniform("critical batch", 0, 5), drawn.uniform("critical batch", 0, 8)
    critical = np.where(drawn.happens("to target", 0.5), near, far)
    power, unsettled = np.where(drawn.happens("steep", 0.5), 2.0, 1.0), drawn.happens("unsettled", 0.55)
    batch = np.array([0.0, 2.0, 0.0])
    by_hand = np.log((1 + 2 ** (batch - critical)) * np.where(unsettled, 1 + 2 ** (power * (small - batch)), 1.0))
    assert factor == pytest.approx(by_hand)


def test_batches_beyond_the_critical_one_waste_epochs_in_proportion() -> None:
    tiny: RangeWeights = {"critical batch": (1.0, *[1e-12] * 99), "unsettled": (1e-12, 1.0)}
    factor = _batch_size(knobs(("batch_size",), (2,), (2**20,), (2**21,)), latents(tiny))
    assert np.median(factor[:, 2] - factor[:, 1]) == pytest.approx(np.log(2), abs=0.01)
    none: RangeWeights = {"critical batch": (*[1e-12] * 99, 1.0), "unsettled": (1e-12, 1.0)}
    flat = _batch_size(knobs(("batch_size",), (2,), (4,), (8,)), latents(none))
    assert np.median(flat[:, 1] - flat[:, 0]) < 0.2


def test_batches_below_32_samples_waste_none_of_them_however_small_todays_is() -> None:
    settled: RangeWeights = {"unsettled": (1e-12, 1.0)}
    small, large = (_batch_size(knobs(("batch_size",), (now,), (2 * now,)), latents(settled)) for now in (2, 256))
    assert np.quantile(small[:, 1] - small[:, 0], 0.99) < np.log1p(2**-3)
    assert (large[:, 1] - large[:, 0] > np.log(1.5)).mean() > 0.05


def test_small_batches_do_not_settle_in_some_jobs_fewer_where_the_rate_is_tuned_too() -> None:
    plain = _batch_size(knobs(("batch_size",), (64,), (2,)), latents())
    tuned = _batch_size(knobs(("batch_size", "learning_rate"), (64, 0.1), (2, 0.01)), latents())
    worse = [(factor[:, 1] > factor[:, 0] + 0.1).mean() for factor in (plain, tuned)]
    assert worse[0] > 2 * worse[1] > 0


def test_the_learning_rate_is_quadratic_and_follows_the_batch_by_hand() -> None:
    drawn = latents(jobs=50)
    factor, _ = _learning_rate(knobs(("batch_size", "learning_rate"), (32, 0.1), (64, 0.2), (64, 0.1)), drawn)
    best = drawn.rng("best rate").normal(0, 1.2, (50, 1))
    power = drawn.uniform("rate power", 0, 1) + np.where(drawn.happens("to target", 0.5), 0, 0.2)
    curvature = drawn.log_uniform("rate curvature", 0.05, 0.5)
    off = np.log(2) * (np.array([0.0, 1.0, 0.0]) - power * np.array([0.0, 1.0, 1.0])) - best
    assert factor == pytest.approx(np.minimum(curvature * off**2, 4.0))


def test_rates_far_above_the_best_diverge_and_larger_batches_bear_larger_ones() -> None:
    linear: RangeWeights = {"rate power": (1e-12, *[1e-12] * 8, 1.0)}
    names = ("batch_size", "learning_rate")
    _, diverges = _learning_rate(knobs(names, (32, 0.1), (32, 3.0), (1024, 3.0), (32, 1e-9)), latents(linear))
    shares = diverges.mean(axis=0)
    assert shares[1] > 0.3 > 3 * shares[2]
    assert shares[3] == 0


def test_a_rate_that_nobody_varies_has_no_effect() -> None:
    factor, diverges = _learning_rate(knobs(("batch_size",), (32,), (64,)), latents())
    assert not factor.any()
    assert not diverges.any()


def test_layers_have_an_optimum_by_hand() -> None:
    drawn = latents(jobs=50)
    factor = _layers(knobs(("num_layers",), (2,), (1,), (8,)), drawn)
    best, curvature = drawn.uniform("best layers", -2, 3), drawn.log_uniform("layers curvature", 0.02, 0.5)
    assert factor == pytest.approx(curvature * (np.array([0.0, -1.0, 2.0]) - best) ** 2)


def test_an_unknown_parameter_changes_the_epochs() -> None:
    factor, _ = epochs_factor(knobs(("momentum",), (0.5,), (0.9,)), latents())
    assert factor[:, 1].std() > 0.1


def test_a_prior_shifts_what_is_drawn() -> None:
    low, high = (
        _layers(knobs(("num_layers",), (2,), (8,)), latents({"best layers": weights})) for weights in ((1.0, 1e-12), (1e-12, 1.0))
    )
    assert np.median(low[:, 1] - low[:, 0]) > 0 > np.median(high[:, 1] - high[:, 0])
