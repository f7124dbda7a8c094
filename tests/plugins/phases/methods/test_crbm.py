from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from phase_traces import made_traces

from jpo.plugins.phases.features import fit_scaler
from jpo.plugins.phases.methods.crbm import Crbm, CrbmOptions, cluster, crbm_of, nearest, train_crbm

RNG = np.random.default_rng(0)
CRBM = Crbm(RNG.normal(size=(4, 2)), RNG.normal(size=(2, 6)), RNG.normal(size=(4, 6)), RNG.normal(size=2), RNG.normal(size=4))
SAMPLES = RNG.normal(size=(9, 2))


def by_definition(t: int) -> np.ndarray:
    """Hidden units of sample t, one by one: the samples before it are its history, the oldest first."""
    history = np.concatenate([SAMPLES[t - 3], SAMPLES[t - 2], SAMPLES[t - 1]])
    return 1 / (1 + np.exp(-(CRBM.hidden_visible @ SAMPLES[t] + CRBM.hidden_history @ history + CRBM.hidden_bias)))


def test_hidden_units_are_those_of_the_definition() -> None:
    found = CRBM.activations(SAMPLES, [9])
    assert CRBM.history == 3
    assert all(np.allclose(found[t], by_definition(t)) for t in range(3, 9))


def test_the_first_samples_have_phases_too_and_executions_do_not_mix() -> None:
    apart = np.concatenate([CRBM.activations(SAMPLES[:5], [5]), CRBM.activations(SAMPLES[5:], [4])])
    assert np.allclose(CRBM.activations(SAMPLES, [5, 4]), apart)
    assert (apart[0] > 0).all()


def test_parity_has_no_first_samples_and_is_one_sample_late() -> None:
    found = CRBM.activations(SAMPLES, [9], parity=True)
    assert (found[:4] == 0).all()
    assert all(np.allclose(found[t], by_definition(t - 1)) for t in range(4, 9))
    assert CRBM.activations(SAMPLES[:2], [2], parity=True).tolist() == [[0] * 4] * 2


def waves(n: int = 400) -> np.ndarray:
    """Two levels that alternate every 20 samples."""
    level = np.where((np.arange(n) // 20) % 2, 1.5, -1.5)
    return level[:, None] + np.random.default_rng(1).normal(0, 0.2, (n, 2))


def test_training_lowers_the_error_and_stops_when_it_no_longer_helps() -> None:
    _, errors = train_crbm(waves(), [400], CrbmOptions(epochs=500, batch=64, learning_rate=0.02))
    assert errors[-1] < 0.5 * errors[0]
    assert len(errors) < 500


def test_the_same_seed_trains_the_same_machine() -> None:
    one, other = (train_crbm(waves(), [200, 200], CrbmOptions(epochs=3, seed=7))[0] for _ in range(2))
    assert all((a == b).all() for a, b in zip(one.arrays().values(), other.arrays().values(), strict=True))


def test_clusters_of_hidden_units_tell_the_levels_apart() -> None:
    crbm, _ = train_crbm(waves(), [400], CrbmOptions(batch=64))
    phases, centres = cluster(crbm.activations(waves(), [400]), 2, 0)
    true = (np.arange(400) // 20) % 2
    assert max((phases == true).mean(), (phases != true).mean()) > 0.9
    assert (nearest(crbm.activations(waves(), [400]), centres) == phases).all()


@pytest.mark.parametrize("name", ["hidden_visible", "hidden_history", "visible_bias"])
def test_weights_that_do_not_go_together_are_no_machine(name: str) -> None:
    assert crbm_of(CRBM.arrays()) is not None
    assert crbm_of(replace(CRBM, **{name: np.ones(3)}).arrays()) is None
    assert crbm_of({}) is None


@pytest.mark.parametrize("noise", [0.3, 1.0, 2.0])
def test_training_stops_by_itself_where_only_noise_is_left(noise: float) -> None:
    traces = made_traces(runs=110, noise=noise)[0]  # some 10,000 samples
    scaled = fit_scaler(traces.stacked, traces.features).transform(traces.stacked)
    _, errors = train_crbm(scaled, traces.lengths, CrbmOptions())
    assert 5 < len(errors) < 100
    assert errors[-1] < 0.1 * errors[0]


def test_a_handful_of_samples_is_enough() -> None:
    crbm, errors = train_crbm(waves(4), [2, 2], CrbmOptions(epochs=3))
    assert np.isfinite(errors).all()
    assert np.isfinite(crbm.activations(waves(4), [2, 2])).all()
