import math

import pytest

from jpo.forecast.curves.curve import Curve, curve_of, epoch_progress, onward


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


def rows(*pairs, samples=None):
    return [(float(epoch), float(seconds), samples) for epoch, seconds in pairs]


def test_a_plain_course_is_as_it_was_logged():
    progress = epoch_progress(rows(*((n, 10 * n) for n in range(1, 6))))
    assert progress.times == tuple((n, 10 * n) for n in range(1, 6))
    assert (progress.from_zero, progress.began_at) == (False, 0)


def test_what_a_restart_from_a_checkpoint_did_again_counts_once():
    progress = epoch_progress(rows((1, 10), (2, 20), (3, 30), (4, 40), (3, 70), (4, 80)))
    assert progress.times == ((1, 10), (2, 20), (3, 70), (4, 80))
    assert onward([(1, "a"), (2, "b"), (1, "c")]) == [(1, "c")]


def test_a_job_that_calls_its_first_epoch_0_has_done_one_more_than_it_says():
    progress = epoch_progress(rows(*((n, 10 * n + 10) for n in range(5))))
    assert progress.from_zero
    assert progress.times[-1] == (5, 50)
    assert epoch_progress([(0.0, 10.0, 1500.0)]).from_zero  # of which one row with samples is enough


@pytest.mark.parametrize("first", [(0.0, 1.0, None), (0.0, 9.0, 0.0)])
def test_a_look_at_the_model_before_its_first_epoch_is_none(first):
    progress = epoch_progress([first, *rows(*((n, 10 * n) for n in range(1, 5)))])
    assert not progress.from_zero
    assert progress.times[0] == (1, 10)


def test_a_resumed_run_began_where_its_first_epoch_came_too_soon():
    assert epoch_progress(rows(*((n, 10 * (n - 20)) for n in range(21, 26)))).began_at == 20
    assert epoch_progress(rows(*((n, 10 * (n - 20)) for n in (21, 22)))).began_at == 0  # too few say so


def test_one_that_reports_every_fifth_epoch_was_not_resumed():
    assert epoch_progress(rows(*((n, 10 * n) for n in (5, 10, 15, 20)))).began_at == 0


def test_numbers_that_are_no_epochs_or_no_times_are_left_out():
    assert epoch_progress(rows((math.nan, 10), (math.inf, 20), (-1, 30), (1, math.nan), (2, 0), (3, 30))).times == ((3, 30),)
    assert epoch_progress([]).times == ()
