from __future__ import annotations

import numpy as np
import pytest

from jpo.records import Candidates
from jpo.simulate.knobs import Knobs, knobs_of, residuals, unknown_effects
from jpo.simulate.latents import Latents


def knobs(names: tuple[str, ...], *rows: tuple[float, ...], current: int = 0) -> Knobs:
    return knobs_of(
        Candidates(names, np.array(rows, dtype=np.float64), current, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))
    )


def test_batch_rate_layers_and_epochs_are_doublings_relative_to_today() -> None:
    names = ("batch_size", "learning_rate", "num_layers", "epochs")
    coordinates = knobs(names, (32, 0.1, 2, 10), (128, 0.05, 2, 40), current=0)
    by_hand = np.array([[0, 2], [0, -1], [0, 0], [0, 2]])
    assert np.array([coordinates.batch, coordinates.rate, coordinates.layers, coordinates.epochs]) == pytest.approx(by_hand)
    assert list(knobs(("batch_size",), (32,), (128,), current=1).batch) == [-2, 0]


def test_a_parameter_that_is_no_column_stays_as_it_is() -> None:
    coordinates = knobs(("batch_size",), (32,), (64,))
    assert [list(row) for row in (coordinates.rate, coordinates.layers, coordinates.epochs)] == [[0, 0]] * 3
    assert (list(coordinates.resources.gpus), list(coordinates.resources.cpus), list(coordinates.resources.memory)) == (
        [0, 0],
        [1, 1],
        [1, 1],
    )
    assert (coordinates.epochs_now, coordinates.resources.has_cpus, coordinates.others.shape) == (None, False, (0, 2))


def test_amounts_are_as_they_are_and_absurd_ones_are_made_possible() -> None:
    coordinates = knobs(("epochs", "gpus", "cpus", "memory_gib"), (0, 2, 0, 8), (5, -1, 4, -3))
    assert list(coordinates.resources.gpus) == [2, 0]
    assert list(coordinates.resources.cpus) == [0.1, 4]
    assert list(coordinates.resources.memory) == [8, 1e-6]
    assert coordinates.epochs_now == 1
    assert coordinates.resources.has_cpus


def test_nothing_is_farther_than_sixty_doublings() -> None:
    assert list(knobs(("batch_size",), (0,), (1e308,)).batch) == [0, 60]
    assert list(knobs(("gpus",), (1,), (1e308,)).resources.gpus) == [1, 1e12]


def test_unknown_parameters_are_scaled_to_zero_to_one() -> None:
    coordinates = knobs(("momentum", "warmup", "held", "shift"), (0.8, 1, 7, -5), (0.9, 1000, 7, 0), (1.0, 1e6, 7, 5))
    assert coordinates.others == pytest.approx(np.array([[0, 0.5, 1], [0, 0.5, 1], [0, 0, 0], [0, 0.5, 1]]))


@pytest.mark.parametrize("pair", [(1e308, 1e-308), (-1e308, 1e308), (5e-324, 1e-323), (0.0, 1e308), (-3.0, 2.0)])
def test_unknown_parameters_of_any_size_are_scaled(pair: tuple[float, float]) -> None:
    with np.errstate(all="raise", under="ignore"):
        assert sorted(knobs(("other",), (pair[0],), (pair[1],)).others[0]) in ([0, 1], [0, 0])


def test_residuals_are_smooth_have_variance_one_and_are_the_same_for_a_seed() -> None:
    line = np.array([0.0, 0.3, 20.0])
    drawn = residuals((line,), Latents(4000, 1), "a")
    assert drawn.shape == (4000, 3)
    assert drawn.std(axis=0) == pytest.approx(np.ones(3), abs=0.3)
    close, far = np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1], np.corrcoef(drawn[:, 0], drawn[:, 2])[0, 1]
    assert close > 0.97
    assert abs(far) < 0.6
    assert (residuals((line,), Latents(4000, 1), "a") == drawn).all()
    assert (residuals((line,), Latents(4000, 1), "b") != drawn).any()


def test_residuals_of_equal_points_are_equal() -> None:
    drawn = residuals((np.array([0.0, 1.0, 0.0]), np.array([2.0, 1.0, 2.0])), Latents(5, 0), "a")
    assert (drawn[:, 0] == drawn[:, 2]).all()


def test_unknown_parameters_have_smooth_effects_of_either_sign() -> None:
    factor = unknown_effects(knobs(("momentum", "dropout"), (0.0, 0.1), (0.02, 0.1), (1.0, 0.9)), Latents(1500, 0))
    close, far = factor[:, 1] - factor[:, 0], factor[:, 2] - factor[:, 0]
    assert close.std() < 0.2 * far.std()
    assert 0.3 < (far > 0).mean() < 0.7


def test_without_unknown_parameters_there_is_no_such_effect() -> None:
    assert not unknown_effects(knobs(("batch_size",), (32,), (64,)), Latents(1500, 0)).any()


def worded(*words: float) -> Knobs:
    rows = np.array([[word] for word in words])
    candidates = Candidates(("optimizer",), rows, 0, np.ones(len(rows), bool), np.zeros(len(rows)), words={"optimizer": {}})
    return knobs_of(candidates)


def test_words_have_no_order_and_effects_as_large_as_those_of_numbers() -> None:
    effects = unknown_effects(worded(7, 8, 400_000, 7), Latents(3000, 0))
    assert (effects[:, 0] == effects[:, 3]).all()
    near, far = (effects[:, 1] - effects[:, 0]).std(), (effects[:, 2] - effects[:, 0]).std()
    assert near == pytest.approx(far, rel=0.1)
    assert effects.std() == pytest.approx(1, rel=0.1)


def test_the_number_of_a_word_does_not_matter() -> None:
    assert list(worded(3, 9, 3).words[0]) == list(worded(500, 1, 500).words[0]) == [0, 1, 0]
