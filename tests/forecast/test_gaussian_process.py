"""The Gaussian process: that it goes through what was measured, is unsure elsewhere, and what an improvement is."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.gaussian_process import expected_improvement, fit

KNOBS = np.zeros(1, dtype=np.int64)


def test_it_goes_through_the_runs_and_is_less_sure_away_from_them() -> None:
    points = np.linspace(0, 1, 6)[:, None]
    values = (points[:, 0] - 0.4) ** 2
    mean, sd = fit(points, KNOBS, values, seed=0).at(np.vstack([points, [[3.0]]]))
    assert mean.mean(axis=0)[:6] == pytest.approx(values, abs=0.03)
    assert sd.mean(axis=0)[6] > 3 * sd.mean(axis=0)[:6].max()


def test_it_finds_which_knob_matters() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((20, 2))
    drawn = fit(points, np.array([0, 1]), np.sin(6 * points[:, 0]), seed=0).draws
    assert drawn[:, 0].mean() < drawn[:, 1].mean() - 0.5


def test_the_same_runs_give_the_same_process_and_equal_values_any() -> None:
    points = np.array([[0.0], [1.0]])
    one, other = (fit(points, KNOBS, np.array([1.0, 1.0]), seed=0).at(points) for _ in range(2))
    assert (one[0] == other[0]).all()
    assert one[0] == pytest.approx(np.ones_like(one[0]))


def test_an_improvement_is_what_normal_values_gain() -> None:
    gain = expected_improvement(np.array([0.0, 0.0, -2.0, 9.0]), np.array([1.0, 2.0, 1e-9, 1e-9]), np.array(0.0))
    assert gain == pytest.approx([0.3989, 0.7979, 2.0, 0.0], abs=1e-3)
