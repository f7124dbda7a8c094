from __future__ import annotations

import math
import random

import pytest

from jpo.telemetry.learning_curve import loss_slope


def power_law(epochs: int, power: float, noise: float = 0.0, seed: int = 0) -> list[tuple[float, float]]:
    luck = random.Random(seed)
    return [(epoch, 2.0 * epoch**-power * math.exp(noise * luck.gauss(0, 1))) for epoch in range(1, epochs + 1)]


@pytest.mark.parametrize("epochs", [4, 5, 20, 1000])
def test_a_power_law_has_its_power_as_slope(epochs):
    slope, error = loss_slope(power_law(epochs, 0.3))
    assert (slope, error) == (pytest.approx(-0.3, abs=1e-9), pytest.approx(0.0, abs=1e-6))


def test_the_first_quarter_does_not_count():
    steep_then_flat = [(epoch, max(1.0, 9.0 / epoch)) for epoch in range(1, 41)]
    slope, _ = loss_slope(steep_then_flat)
    assert slope == pytest.approx(0.0, abs=1e-9)


def test_the_error_says_how_far_noise_moves_the_slope():
    measured = [loss_slope(power_law(20, 0.1, noise=0.02, seed=seed)) for seed in range(200)]
    slopes = [slope for slope, _ in measured]
    mean = sum(slopes) / len(slopes)
    scatter = math.sqrt(sum((slope - mean) ** 2 for slope in slopes) / len(slopes))
    assert mean == pytest.approx(-0.1, abs=0.01)
    assert sum(error for _, error in measured) / len(measured) == pytest.approx(scatter, rel=0.2)


def test_one_odd_validation_hardly_moves_the_slope():
    curve = power_law(20, 0.1)
    curve[14] = (15, 30.0)
    slope, error = loss_slope(curve)
    assert slope == pytest.approx(-0.1, abs=0.05)
    assert error > 0.3


@pytest.mark.parametrize(
    "curve",
    [
        [],
        [(1, 0.5), (2, 0.4), (3, 0.3)],
        [(3, 0.5), (3, 0.4), (3, 0.3), (3, 0.2)],
        [(1, 0.5), (2, 0.4), (3, 0.3), (4, math.nan)],
        [(1, 0.5), (2, 0.4), (3, 0.3), (4, 0.0)],
        [(1, 0.5), (2, -0.4), (3, 0.3), (4, 0.2)],
        [(0, 0.5), (math.nan, 0.4), (3, 0.3), (4, 0.2), (5, 0.1)],
    ],
)
def test_too_few_losses_or_some_without_a_logarithm_have_no_slope(curve):
    assert loss_slope(curve) is None


def test_a_loss_that_exploded_early_does_not_count():
    assert loss_slope([(1, math.inf), *power_law(20, 0.2)[1:]]) is not None
