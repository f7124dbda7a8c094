from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.weights import effective_share, flattened, softmax


def test_weights_are_likelihoods_while_enough_particles_count() -> None:
    logs = np.log([0.1, 0.2, 0.7])
    assert flattened(logs, 0.5) == pytest.approx([0.1, 0.2, 0.7])
    assert softmax(logs - 1e4) == pytest.approx([0.1, 0.2, 0.7])


def test_no_weights_rest_on_a_handful_of_particles() -> None:
    logs = -(np.arange(1000.0) ** 2)
    assert effective_share(softmax(logs)) < 0.002
    weights = flattened(logs, 0.2)
    assert effective_share(weights) == pytest.approx(0.2, rel=0.01)
    assert weights.sum() == pytest.approx(1)
    assert (np.diff(weights) <= 0).all()


def test_equal_particles_all_count() -> None:
    assert effective_share(np.full(8, 0.125)) == 1
    assert effective_share(np.array([1.0, 0, 0, 0])) == 0.25
