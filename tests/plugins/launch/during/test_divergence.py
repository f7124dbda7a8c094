from math import inf, nan

import pytest

from jpo.plugins.launch.during.divergence import has_diverged


def said(train, val, others=()):
    """Of a log with one row for each pair."""
    newest = (train[-1] if train else None, val[-1] if val else None)
    return has_diverged(newest, train, val, others)


@pytest.mark.parametrize(
    ("train", "val"),
    [
        ([0.5, nan], [0.6, nan]),  # both
        ([0.5, inf], [0.6, 0.7]),
        ([0.5, nan, nan], []),
        ([0.5, 0.4, 0.3], [0.6, nan, nan]),  # statistics of batches that are used for validation alone
        ([0.5, 9.0, nan], []),  # grew beyond all bounds
        ([], [0.6, 0.5, 70.0, nan]),
        ([], [nan, nan]),
    ],
)
def test_more_than_one_loss_that_is_no_number_is_divergence(train, val):
    assert said(train, val)


@pytest.mark.parametrize(
    ("train", "val"),
    [
        ([0.5, 0.4], [0.6, nan]),  # an empty batch of validation
        ([0.5, 0.4], [0.6, inf]),  # a probability of 0
        ([0.5, nan], [0.6, 0.5]),  # a step that overflowed and was left out
        ([0.5, nan, 0.4], [0.6, nan, 0.5]),  # over again
        ([0.5, 0.4], [nan, nan]),  # it never was measured
        ([0.5, nan], []),
        ([-2.0, -1.0, nan], []),
        ([], []),
    ],
)
def test_a_single_one_is_not(train, val):
    assert not said(train, val)


def test_another_quality_has_a_say_like_a_validation_loss():
    assert said([0.5, 0.4], [], [[0.5, 0.6, nan, nan]])
    assert not said([0.5, 0.4], [], [[0.5, 0.6, nan]])
    assert not said([0.5, 0.4], [], [[nan, nan]])
