from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.records import Draws
from jpo.simulate.runs import draw_noise, observe

DRAWS = Draws(
    log_time=np.array([[0.0, -1.0, 3.0]]),
    log_loss=np.array([[0.0, 0.5, 0.0]]),
    log_utilisation=np.array([[0.0, 0.25, 0.0]]),
    log_power=np.zeros((1, 3)),
    fails=np.array([[False, False, True]]),
)


def test_a_run_without_noise_takes_the_time_of_its_candidate() -> None:
    run = observe(DRAWS, 0, 1, np.random.default_rng(0), noise=0.0)
    assert run.log_time == -1.0
    assert run.log_loss == pytest.approx(0.5, abs=0.1)
    assert run.log_utilisation == pytest.approx(0.25, abs=0.15)
    assert not run.failed


def test_a_failing_run_is_stopped_at_twice_todays_duration() -> None:
    run = observe(DRAWS, 0, 2, np.random.default_rng(0), noise=0.0)
    assert run.failed
    assert run.log_time == pytest.approx(math.log(2))


def test_one_run_in_a_hundred_crashes() -> None:
    rng = np.random.default_rng(0)
    assert 10 < sum(observe(DRAWS, 0, 0, rng).failed for _ in range(2000)) < 35


def test_noise_has_the_given_standard_deviation() -> None:
    rng = np.random.default_rng(0)
    times = [observe(DRAWS, 0, 0, rng, noise=0.1).log_time for _ in range(2000)]
    assert np.std(times) == pytest.approx(0.1, rel=0.1)


def test_three_jobs_in_ten_have_no_noise_and_none_more_than_fifteen_percent() -> None:
    rng = np.random.default_rng(0)
    noises = np.array([draw_noise(rng) for _ in range(2000)])
    assert (noises == 0).mean() == pytest.approx(0.3, abs=0.04)
    assert 0.14 < noises.max() <= 0.15
