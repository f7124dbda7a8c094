import pytest

from jpo.forecast.curves.target import EpochsToTarget
from jpo.plugins.launch.during.target import UNLIKELY, outlook

NEAR, FAR = EpochsToTarget(0.1, 0.15, 3), EpochsToTarget(3.0, 1.0, 3)


def test_what_it_costs_in_all_is_what_it_has_cost_times_what_is_ahead():
    assert outlook(0.5, EpochsToTarget(0.0, 0.0, 3), 1.0, 2.0).total == pytest.approx(0.5)
    assert outlook(0.1, FAR, 1.0, 2.0).total == pytest.approx(2.0086, rel=1e-3)


def test_one_that_is_nearly_there_for_half_the_cost_goes_on():
    found = outlook(0.5, NEAR, 1.0, 2.0)
    assert found.wins > 0.99
    assert found.gain == pytest.approx(0.45, abs=0.03)
    assert not found.hopeless(10)


def test_one_with_most_before_it_is_stopped():
    found = outlook(0.5, FAR, 1.0, 2.0)
    assert found.wins < UNLIKELY
    assert found.left == pytest.approx(1.5, abs=0.05)  # it is stopped at twice the rival's cost in any case
    assert found.hopeless(10)


def test_a_few_runs_that_follow_are_worth_less_than_many():
    found = outlook(0.3, EpochsToTarget(2.5, 0.8, 3), 1.0, 2.0)
    assert found.wins < UNLIKELY
    assert found.hopeless(5)
    assert not found.hopeless(500)


def test_one_that_may_win_goes_on_whatever_is_left_to_pay():
    found = outlook(0.3, EpochsToTarget(2.0, 0.8, 3), 1.0, 2.0)
    assert found.wins > UNLIKELY
    assert found.left > 5 * found.gain
    assert not found.hopeless(5)


def test_what_the_best_configuration_usually_costs_is_to_be_beaten_not_its_luckiest_run():
    lucky, usual = (outlook(0.9, EpochsToTarget(0.4, 0.2, 3), usual, 2.0).wins for usual in (1.0, 1.4))
    assert lucky < UNLIKELY < usual


def test_what_is_nearly_over_costs_little_more():
    found = outlook(0.9, EpochsToTarget(0.0, 0.1, 3), 0.8, 2.0)  # dearer than usual by now, and as good as there
    assert found.wins == 0
    assert found.left < 0.06
