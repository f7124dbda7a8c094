import math

import pytest

from jpo.forecast.curves.curve import Curve, curve_of


def power_law(epochs, power=1.0):
    return curve_of((n, 2.0 * n**-power) for n in range(1, epochs + 1))


def test_the_slope_of_a_power_law_is_its_power():
    assert power_law(64, 0.5).slope() == pytest.approx(0.5, rel=0.1)


def test_one_bad_batch_is_no_level():
    steady = [(n, 0.5) for n in range(1, 9)]
    assert curve_of([*steady, (9, 5.0)]).level(9) == pytest.approx(math.log(0.5))


def test_a_smooth_curve_is_not_rough_and_a_noisy_one_is():
    noisy = curve_of((n, math.exp(0.3 * (-1) ** n)) for n in range(1, 21))
    assert power_law(40).roughness() < 0.01
    assert noisy.roughness() > 0.3


def test_of_several_values_at_one_place_the_last_counts():
    assert curve_of([(1, 3.0), (1, 2.0), (2, 1.0)]) == Curve((1, 2), (math.log(2.0), 0.0))


@pytest.mark.parametrize("error", [math.nan, math.inf, 0.0, -1.0])
def test_a_curve_that_diverged_is_none(error):
    assert curve_of([(1, 1.0), (2, error)]) is None


@pytest.mark.parametrize("error", [math.nan, math.inf])
def test_a_single_error_that_was_none_is_left_out(error):
    assert curve_of([(1, 1.0), (2, error), (3, 0.5)]) == curve_of([(1, 1.0), (3, 0.5)])


def test_what_came_before_a_restart_and_lies_beyond_it_is_void():
    assert curve_of([(1, 1.0), (2, 0.5), (3, 0.4), (2, 0.6)]) == curve_of([(1, 1.0), (2, 0.6)])


def test_nothing_is_no_curve():
    assert curve_of([]) is None


@pytest.mark.parametrize(("epochs", "logs"), [((1, 1), (0, 0)), ((0, 1), (0, 0)), ((1, 2), (0,)), ((1,), (math.nan,))])
def test_what_is_no_curve_is_refused(epochs, logs):
    with pytest.raises(ValueError, match=r"curve|epochs"):
        Curve(epochs, logs)


def test_a_part_of_a_curve_ends_at_its_epoch():
    assert power_law(10).until(4).epochs == (1, 2, 3, 4)
