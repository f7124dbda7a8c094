from __future__ import annotations

import numpy as np
import pytest

from jpo.simulate.drift import Drift, batch_effect, draw_drift


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def drawn(jobs: int, runs: int) -> list[Drift]:
    generator = rng()
    return [draw_drift(runs, generator) for _ in range(jobs)]


def test_nothing_has_drifted_at_the_reference_run() -> None:
    for drift in drawn(300, 20):
        assert drift.log_time.shape == drift.best_batch.shape == (20,)
        for array in (drift.log_time, drift.log_data, drift.best_batch):
            assert array[0] == 0
            assert np.isfinite(array).all()


def test_data_grow_in_half_of_the_jobs_by_the_same_factor_each_run() -> None:
    data = np.array([drift.log_data for drift in drawn(2000, 20)])
    assert (data[:, -1] > 0).mean() == pytest.approx(0.5, abs=0.04)
    assert np.diff(data, axis=1) == pytest.approx(np.repeat(data[:, [1]], 19, axis=1))
    assert np.expm1(data[:, 1]).max() < 0.0301


def test_hardware_changes_once_in_three_jobs_of_ten() -> None:
    jumps = np.array([np.diff(drift.log_time - drift.log_data) for drift in drawn(2000, 20)])
    changes = (np.abs(jumps) > 1e-12).sum(axis=1)
    assert changes.max() == 1
    assert changes.mean() == pytest.approx(0.3, abs=0.04)
    assert (jumps.min(), jumps.max()) == pytest.approx((np.log(0.5), np.log(1.6)), abs=0.02)


def test_the_best_batch_grows_with_a_power_of_the_data() -> None:
    drifts = drawn(500, 30)
    power = [drift.best_batch[-1] * np.log(2) / drift.log_data[-1] for drift in drifts if drift.log_data[-1] > 0]
    assert 0.3 <= min(power) <= max(power) <= 0.6
    assert not any(drift.best_batch.any() for drift in drifts if drift.log_data[-1] == 0)


def test_the_effect_on_batch_sizes_by_hand() -> None:
    drift = Drift(np.zeros(2), np.zeros(2), np.array([0.0, 1.0]), 0.0)
    effect = batch_effect(drift, 1, np.array([0.0, 1.0]))
    assert effect == pytest.approx([0.0, np.log(2 / 3) - np.log(1.5 / 2)])  # epochs 1 + 2^(b - 1) instead of 1 + 2^b
    assert batch_effect(drift, 0, np.array([0.0, 1.0])) == pytest.approx([0.0, 0.0])


def test_one_run_and_the_same_seed_are_no_trouble() -> None:
    assert [drift.log_time.tolist() for drift in drawn(3, 1)] == [[0.0]] * 3
    assert (draw_drift(9, rng(4)).log_time == draw_drift(9, rng(4)).log_time).all()
