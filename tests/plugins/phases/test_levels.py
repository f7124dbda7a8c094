from __future__ import annotations

import numpy as np

from jpo.plugins.phases.levels import find_levels


def test_a_level_that_holds_most_samples_is_not_halved() -> None:
    rng = np.random.default_rng(0)
    scaled = np.concatenate([rng.normal(0, 0.5, (900, 2)), rng.normal(5, 0.5, (50, 2)), rng.normal((-5, 5), 0.5, (50, 2))])
    assert np.bincount(find_levels(scaled, None, 0)).tolist() == [900, 50, 50]


def test_the_number_of_levels_can_be_given() -> None:
    scaled = np.random.default_rng(0).normal(size=(300, 2))
    assert np.unique(find_levels(scaled, 4, 0)).tolist() == [0, 1, 2, 3]


def test_levels_are_counted_as_they_come() -> None:
    scaled = np.repeat([[9.0], [-9.0], [0.0]], 20, axis=0)
    assert find_levels(scaled, None, 0).tolist() == [0] * 20 + [1] * 20 + [2] * 20


def test_few_different_samples_have_no_more_levels() -> None:
    assert find_levels(np.array([[0.0], [9.0], [0.0], [9.0]]), None, 0).tolist() == [0, 1, 0, 1]
