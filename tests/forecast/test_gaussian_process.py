"""The Gaussian process: that it goes through what was measured, is unsure elsewhere, and what an improvement is."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.gaussian_process import expected_improvement, process_after

KNOBS = np.zeros(1, dtype=np.int64)


def test_it_goes_through_the_runs_and_is_less_sure_away_from_them() -> None:
    points = np.append(np.linspace(0, 1, 6), 3.0)[:, None]
    values = (points[:6, 0] - 0.4) ** 2
    mean, sd = process_after(points, KNOBS, np.arange(6), values, seed=0)
    assert mean.mean(axis=0)[:6] == pytest.approx(values, abs=0.03)
    assert sd.mean(axis=0)[6] > 3 * sd.mean(axis=0)[:6].max()


def test_it_finds_which_knob_matters() -> None:
    points = np.vstack([np.random.default_rng(0).random((20, 2)), [[0.2, 0.5], [0.2, 0.9], [0.6, 0.5]]])
    mean, _ = process_after(points, np.array([0, 1]), np.arange(20), np.sin(6 * points[:20, 0]), seed=0)
    there, other_knob, this_knob = mean.mean(axis=0)[20:]
    assert abs(other_knob - there) < 0.3 < 1 < abs(this_knob - there)


def test_the_same_runs_give_the_same_process_and_equal_values_any() -> None:
    points = np.array([[0.0], [1.0]])
    one, other = (process_after(points, KNOBS, np.arange(2), np.array([1.0, 1.0]), seed=0) for _ in range(2))
    assert (one[0] == other[0]).all()
    assert one[0] == pytest.approx(np.ones_like(one[0]))


@pytest.mark.parametrize(("values", "near"), [((0.0, -1.0), -2.0), ((0.0, 1.0), None)])
def test_other_jobs_say_what_is_elsewhere_as_far_as_the_runs_are_like_them(
    values: tuple[float, float], near: float | None
) -> None:
    points = np.linspace(0, 1, 5)[:, None]
    steps = np.random.default_rng(1).normal(1, 0.1, (50, 1))
    falling = -4 * steps * points[:, 0] + 7  # by about 1 from point to point, at a level of its own
    alike, _ = process_after(points, KNOBS, np.arange(2), np.array(values), falling, trust=0.8, seed=0)
    alone, _ = process_after(points, KNOBS, np.arange(2), np.array(values), seed=0)
    if near is None:  # what rises is not like them
        assert alike.mean(axis=0)[2] > 0.5
    else:
        assert alike.mean(axis=0)[2] == pytest.approx(near, abs=0.4)
        assert alone.mean(axis=0)[2] > near + 0.4


def test_an_improvement_is_what_normal_values_gain() -> None:
    gain = expected_improvement(np.array([0.0, 0.0, -2.0, 9.0]), np.array([1.0, 2.0, 1e-9, 1e-9]), np.array(0.0))
    assert gain == pytest.approx([0.3989, 0.7979, 2.0, 0.0], abs=1e-3)
