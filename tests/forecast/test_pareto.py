from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.forecast.pareto import hypervolume, non_dominated, reference_beyond, spread

if TYPE_CHECKING:
    from jpo.records import Floats

NAN, INF = float("nan"), float("inf")


def by_definition(points: Floats) -> list[bool]:
    """Each point against every other, number by number."""

    def beats(some: Floats, other: Floats) -> bool:
        pairs = list(zip(some.tolist(), other.tolist(), strict=True))
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    return [not np.isnan(point).any() and not any(beats(other, point) for other in points) for point in points]


def unit_boxes(points: Floats, reference: Floats) -> int:
    """How many boxes of side 1 between whole numbers are dominated: the exact volume of points on whole numbers."""
    low = int(min(points.min(initial=0), 0))
    sides = [range(low, int(end)) for end in reference]
    return sum(any((point <= corner).all() for point in points) for corner in map(np.array, itertools.product(*sides)))


@st.composite
def on_a_grid(draw: st.DrawFn, sizes: range = range(1, 5)) -> Floats:
    """Few points on few whole numbers, so that ties and duplicates are frequent."""
    m, n = draw(st.sampled_from(sizes)), draw(st.integers(0, 9))
    rows = draw(st.lists(st.lists(st.integers(-1, 4), min_size=m, max_size=m), min_size=n, max_size=n))
    return np.array(rows, dtype=np.float64).reshape(-1, m)


def test_only_what_nothing_beats_is_on_the_front() -> None:
    points = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [2.0, 3.0], [4.0, 4.0]])
    assert non_dominated(points).tolist() == [True, True, True, False, False]


def test_equal_points_are_all_on_the_front_or_none() -> None:
    assert non_dominated(np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 3.0], [3.0, 3.0]])).tolist() == [True, True, False, False]


def test_a_tie_in_one_objective_is_decided_by_the_others() -> None:
    assert non_dominated(np.array([[1.0, 2.0], [1.0, 3.0]])).tolist() == [True, False]


def test_what_was_not_measured_is_on_no_front_and_beats_nothing() -> None:
    assert non_dominated(np.array([[0.0, NAN], [1.0, 1.0], [NAN, NAN]])).tolist() == [False, True, False]


def test_infinite_values_are_compared_as_numbers() -> None:
    assert non_dominated(np.array([[-INF, INF], [0.0, 0.0], [0.0, INF]])).tolist() == [True, True, False]


def test_no_points_have_no_front_and_no_volume() -> None:
    assert non_dominated(np.zeros((0, 3))).tolist() == []
    assert hypervolume(np.zeros((0, 3)), [1.0, 1.0, 1.0]) == 0.0


@given(on_a_grid())
def test_the_front_is_that_of_the_definition(points: Floats) -> None:
    assert non_dominated(points).tolist() == by_definition(points)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_front_of_random_points_is_that_of_the_definition(m: int) -> None:
    points = np.random.default_rng(m).normal(size=(120, m)).round(1)
    points[::17, 0] = NAN
    assert non_dominated(points).tolist() == by_definition(points)


@pytest.mark.parametrize(
    ("points", "reference", "expected"),
    [
        ([[2.0], [5.0]], [7.0], 5.0),
        ([[1.0, 3.0], [2.0, 1.0]], [4.0, 4.0], 3 * 1 + 2 * 3 - 2 * 1),
        ([[0.0, 0.0, 0.0]], [2.0, 3.0, 4.0], 24.0),
        ([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], [2.0, 2.0, 2.0], 2 + 4 - 1),
        ([[1.0, 1.0, 1.0, 1.0]], [3.0, 3.0, 3.0, 3.0], 16.0),
        ([[-3.0, -0.5]], [-1.0, -0.25], 0.5),
    ],
)
def test_volumes_by_hand(points: list[list[float]], reference: list[float], expected: float) -> None:
    assert hypervolume(np.array(points), reference) == pytest.approx(expected)


def test_what_is_not_better_than_the_reference_in_everything_adds_nothing() -> None:
    front = [[1.0, 1.0]]
    for more in ([0.0, 2.0], [2.0, 0.0], [3.0, 3.0], [0.0, INF], [0.0, NAN], [1.0, 1.0], [1.5, 1.0]):
        assert hypervolume(np.array([*front, more]), [2.0, 2.0]) == 1.0, more


def test_an_infinitely_good_point_has_an_infinite_volume() -> None:
    assert hypervolume(np.array([[-INF, 0.0], [-INF, 0.5]]), [1.0, 1.0]) == INF
    assert hypervolume(np.array([[-INF, 1.0]]), [1.0, 1.0]) == 0.0, "it is not better than the reference"


@pytest.mark.parametrize(
    ("shape", "reference"), [((2, 3), [1.0, 1.0]), ((2,), [1.0, 1.0]), ((2, 0), []), ((2, 2), [1.0, NAN]), ((2, 2), [1.0, INF])]
)
def test_shapes_must_fit_and_the_reference_be_finite(shape: tuple[int, ...], reference: list[float]) -> None:
    with pytest.raises(ValueError, match="reference point"):
        hypervolume(np.zeros(shape), reference)


@given(on_a_grid())
def test_the_volume_is_that_of_the_boxes_below(points: Floats) -> None:
    reference = np.full(points.shape[1], 4.0)
    assert hypervolume(points, reference) == unit_boxes(points, reference)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_volume_of_random_points_is_that_of_inclusion_and_exclusion(m: int) -> None:
    points = np.random.default_rng(m).uniform(size=(9, m))
    total = 0.0
    for size in range(1, 10):
        for several in itertools.combinations(points, size):
            total -= (-1) ** size * float(np.prod(1.1 - np.max(several, axis=0)))
    assert hypervolume(points, [1.1] * m) == pytest.approx(total)


@given(on_a_grid(range(2, 5)), st.integers(0, 99))
def test_the_volume_knows_no_order_of_points_or_objectives(points: Floats, seed: int) -> None:
    reference = np.arange(3.0, 3.0 + points.shape[1])
    objectives = np.random.default_rng(seed).permutation(points.shape[1])
    assert hypervolume(points[::-1][:, objectives], reference[objectives]) == pytest.approx(hypervolume(points, reference))


@given(on_a_grid(range(1, 4)), st.lists(st.integers(-1, 4), min_size=3, max_size=3))
def test_one_more_point_never_makes_it_less(points: Floats, more: list[int]) -> None:
    reference = np.full(points.shape[1], 4.0)
    wider = np.vstack([points, np.array(more[: points.shape[1]], dtype=np.float64)])
    assert hypervolume(wider, reference) >= hypervolume(points, reference)


def test_the_usual_reference_is_beyond_the_worst_for_either_sign() -> None:
    assert reference_beyond(np.array([[10.0, -0.5, 0.0], [20.0, -0.8, 0.0]])).tolist() == pytest.approx([22.0, -0.45, 0.0])


def test_a_spread_keeps_both_ends() -> None:
    points = np.array([[5.0, 0], [1.0, 0], [4.0, 0], [2.0, 0], [3.0, 0]])
    assert spread(points, 3).tolist() == [1, 4, 0]
    assert spread(points, 9).tolist() == [1, 3, 4, 2, 0]
    assert spread(points[:0], 3).tolist() == []
