from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.discrepancy import Discrepancy
from jpo.forecast.ensemble import conditioned
from jpo.forecast.measurements import NO_MEASUREMENTS, Measurements

MISFIT = Discrepancy(tau=0.12, noise=0.06)
MEMBERS = 40_000


def prior(covariance: list[list[float]], mean: list[float], seed: int = 0) -> np.ndarray:
    """Members whose current candidate (column 0) is 0, the others normal."""
    drawn = np.random.default_rng(seed).multivariate_normal(mean, covariance, MEMBERS)
    return np.column_stack([np.zeros(MEMBERS), drawn])


def seen(*rows_and_logs: tuple[int, float], count: float = 1.0) -> Measurements:
    rows, logs = zip(*rows_and_logs, strict=True)
    return Measurements(np.array(rows), np.array(logs, dtype=np.float64), np.full(len(rows), count))


def test_moments_are_those_of_the_normal_posterior() -> None:
    """Today (0) and candidate 1 were seen, 5.0 and 5.6; the level is free, so 0.6 is a measurement of candidate 1 less today.

    Both measurements have variance v = 0.03^2 + noise^2, today's as well: the difference has 2 v.
    """
    covariance = np.array([[0.25, 0.15], [0.15, 0.36]])
    adjusted = conditioned(prior(covariance.tolist(), [0.1, -0.2]), seen((0, 5.0), (1, 5.6)), NO_MEASUREMENTS, MISFIT, 0, rng())
    gain = covariance[:, 0] / (0.25 + 2 * (0.03**2 + 0.06**2))
    assert adjusted.log[:, 1:].mean(axis=0) == pytest.approx(np.array([0.1, -0.2]) + gain * 0.5, abs=0.01)
    expected = covariance - np.outer(gain, covariance[0])
    assert np.cov(adjusted.log[:, 1:].T) == pytest.approx(expected, abs=0.01)
    assert (adjusted.log[:, 0] == 0).all()


def test_the_level_is_what_todays_run_takes() -> None:
    adjusted = conditioned(prior([[0.04, 0.0], [0.0, 0.04]], [0.0, 0.0]), seen((0, 7.0)), NO_MEASUREMENTS, MISFIT, 0, rng())
    assert adjusted.level.mean() == pytest.approx(7.0, abs=0.01)
    assert adjusted.log[:, 1:].std(axis=0) == pytest.approx([0.2, 0.2], rel=0.05)  # one run says nothing of the others


def test_more_runs_leave_less_doubt() -> None:
    spread = [
        conditioned(
            prior([[0.25, 0.0], [0.0, 0.25]], [0, 0]),
            seen((0, 0.0), (1, 0.3), count=n),
            NO_MEASUREMENTS,
            Discrepancy(0.01, 0.3),
            0,
            rng(),
        )
        .log[:, 1]
        .std()
        for n in (1.0, 100.0)
    ]
    assert spread[1] < 0.2 * spread[0]


def test_the_likelihood_is_that_of_the_members_before() -> None:
    """Student t, nu 4, of what each misses by after its own level is fitted: 0 and ln 2, halved over two rows."""
    simulated = np.array([[0.0, 0.0], [0.0, np.log(2)]])
    adjusted = conditioned(simulated, seen((0, 0.0), (1, np.log(2))), NO_MEASUREMENTS, MISFIT, 0, rng())
    variance = 0.12**2 + 0.06**2
    assert adjusted.log_likelihood == pytest.approx([-5 * np.log1p((np.log(2) / 2) ** 2 / (4 * variance)), 0])


def test_nothing_seen_changes_nothing_even_where_runs_were_stopped() -> None:
    simulated = prior([[1.0, 0.0], [0.0, 1.0]], [0, 0])
    adjusted = conditioned(simulated, NO_MEASUREMENTS, seen((1, 9.0)), MISFIT, 0, rng())
    assert adjusted.log is simulated
    assert not adjusted.log_likelihood.any()


def test_a_stopped_run_lifts_what_is_below_it_and_its_like() -> None:
    """Stopped after e^1 times today; candidate 2 goes along with 1, members expect no difference on the average."""
    simulated = prior([[0.25, 0.24], [0.24, 0.25]], [0.0, 0.0])
    least = seen((1, 1.0))
    without, lifted = (conditioned(simulated, seen((0, 0.0)), bounds, MISFIT, 0, rng()) for bounds in (NO_MEASUREMENTS, least))
    assert (lifted.log[:, 1] > 0.8).mean() > 0.8 > 0.1 > (without.log[:, 1] > 0.8).mean()
    assert lifted.log[:, 2].mean() > 0.6
    high = without.log[:, 1] > 1.5
    assert lifted.log[high] == pytest.approx(without.log[high])
    assert lifted.log_likelihood[high].mean() > lifted.log_likelihood[~high].mean()


def rng() -> np.random.Generator:
    return np.random.default_rng(1)
