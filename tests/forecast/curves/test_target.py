import math

import pytest

from jpo.forecast.curves.curve import curve_of
from jpo.forecast.curves.target import (
    FARTHEST,
    FIRST_EPOCH,
    EpochsToTarget,
    ReachedTarget,
    epochs_to_target,
    epochs_to_target_by_pace,
    learns_alike,
)


def falling(per_epoch, epochs):
    """A curve whose error falls by this factor in each epoch."""
    return curve_of((n, per_epoch**n) for n in range(1, epochs + 1))


REACHED = [ReachedTarget(falling(0.5, 10))] * 3


def test_of_a_run_at_half_the_pace_the_target_is_expected_after_twice_the_epochs_or_more():
    """After 4 epochs it is where those that reached the target were after 2 of 10: 20 epochs at their pace."""
    found = epochs_to_target(falling(math.sqrt(0.5), 4), REACHED)
    assert found.mean == pytest.approx(math.log(5) + 0.1 + 0.7 * FARTHEST)
    assert found.runs == 3


def test_between_two_epochs_it_goes_by_the_error():
    found = epochs_to_target(curve_of([(1, 0.9), (2, 2**-1.5)]), REACHED)
    assert found == EpochsToTarget.of(math.log(10 / 1.5), 3)


def test_the_nearer_the_target_the_surer():
    far, near = (epochs_to_target(falling(0.5, done), REACHED) for done in (3, 9))
    assert near.mean < far.mean
    assert near.deviation < far.deviation


def test_a_run_that_is_lower_than_any_that_reached_the_target_is_about_to():
    assert epochs_to_target(falling(0.1, 9), REACHED) == EpochsToTarget.of(0.0, 3)


def test_a_run_that_has_not_come_down_at_all_is_as_far_as_the_others_were_at_first():
    assert epochs_to_target(curve_of([(1, 3.0), (2, 3.1), (3, 3.0)]), REACHED) == EpochsToTarget.of(math.log(10), 3)


def test_one_bad_epoch_is_no_step_back():
    assert epochs_to_target(curve_of([(1, 0.5), (2, 0.25), (3, 0.9)]), REACHED) == EpochsToTarget.of(math.log(5), 3)


def test_half_of_those_that_reached_it_outvote_the_slowest():
    assert epochs_to_target(falling(0.5, 2), [*REACHED, ReachedTarget(falling(0.99, 100))]) == EpochsToTarget.of(math.log(5), 4)


def test_a_run_that_learns_as_they_did_is_as_far_as_they_were_and_that_is_surer():
    """After 5 of 10 epochs. Those that learn otherwise say nothing where enough learn alike."""
    alike = [ReachedTarget(run.curve, alike=True) for run in REACHED]
    slow = [ReachedTarget(falling(0.7, 30))] * 5
    found, usual = epochs_to_target(falling(0.5, 5), [*alike, *slow]), epochs_to_target(falling(0.5, 5), REACHED)
    assert found.mean == pytest.approx(math.log(2))
    assert (found.runs, usual.mean) == (3, pytest.approx(math.log(2) + 0.1 + 0.7 * math.log(2)))
    assert found.deviation < usual.deviation / 2
    assert epochs_to_target(falling(0.5, 5), [*alike[:2], *REACHED]) == EpochsToTarget.of(math.log(2), 5)


@pytest.mark.parametrize(
    ("others", "alike"),
    [
        ({"batch_size": 64, "learning_rate": 0.1, "cpus": 4, "gpus": 1, "memory_gib": 9, "epochs": 3}, True),
        ({"batch_size": 64, "learning_rate": 0.1000001}, True),
        ({"batch_size": 64}, True),
        ({"batch_size": 128, "learning_rate": 0.1}, False),
        ({"cpus": 2, "epochs": 9}, False),
        ({}, False),
    ],
)
def test_who_differs_in_hardware_alone_learns_alike(others, alike):
    values = {"batch_size": 64, "learning_rate": 0.1, "cpus": 2, "epochs": 9}
    assert learns_alike(values, others) is learns_alike(others, values) is alike


@pytest.mark.parametrize(("done", "reached"), [(1, REACHED), (5, REACHED[:2]), (5, [])])
def test_little_tells_nothing(done, reached):
    assert epochs_to_target(falling(0.5, done), reached) is None


def test_before_there_is_a_curve_the_target_is_as_far_as_for_those_that_reached_it_and_less_sure():
    """After the first epoch of 10; in the first one, that counts as about to end."""
    usual = EpochsToTarget.of(math.log(10), 3)
    for done in (0.0, 1.0):
        found = epochs_to_target_by_pace(done, 61.0, 30.0, REACHED)
        assert found.mean == pytest.approx(usual.mean)
        assert found.deviation == pytest.approx(math.hypot(usual.deviation, FIRST_EPOCH))
        assert not found.by_curve
    assert epochs_to_target_by_pace(2.0, 61.0, 30.0, REACHED) is None
    assert epochs_to_target_by_pace(1.0, 61.0, 30.0, REACHED[:2]) is None


def test_who_takes_no_longer_than_others_took_to_warm_up_is_not_slow():
    assert epochs_to_target_by_pace(0.0, 59.0, 30.0, REACHED) is None
    assert epochs_to_target_by_pace(0.0, 1e6, None, REACHED) is None
