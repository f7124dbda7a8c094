"""How far trials keep from what missed and from the best, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.safety.distances import NEAR_A_MISS, NO_WAY_BACK, close_to_a_miss, trial_vetoes
from jpo.records import Candidates

ROWS = [(64, 0.03), (128, 0.03), (128, 0.05), (32, 0.03), (256, 0.06), (64, 0.3)]
OPEN = np.ones(len(ROWS), bool)


def candidates(rows=ROWS, names=("batch_size", "learning_rate"), words=None):
    k = len(rows)
    return Candidates(names, np.array(rows, float), 0, np.ones(k, bool), np.zeros(k), words=words or {})


def allowed(before, after):
    return max(before["batch_size"], after["batch_size"]) <= 2 * min(before["batch_size"], after["batch_size"])


def always(before, after):
    return True


@pytest.fixture
def after_a_miss(belief):
    """(64, .03) ended well, (128, .03) was stopped."""
    known = belief([[0.0] * 6], runs=(1, 0, 0, 0, 0, 0), failures=(0,) * 6)
    return replace(known, stopped=np.array([0, 1, 0, 0, 0, 0]))


def test_what_is_within_a_factor_of_two_of_a_miss_is_not_tried(after_a_miss):
    """128, .05 is 1.67 times away from it; 256, .06 twice in both, which is four; 32, .03 four."""
    (near,) = trial_vetoes(candidates(), after_a_miss, OPEN, 0, always)
    assert (near.rows.tolist(), near.code) == ([False, False, True, False, False, False], NEAR_A_MISS)


def test_exactly_a_factor_of_two_is_far_enough_and_what_ended_well_once_is_no_miss(after_a_miss):
    assert close_to_a_miss(candidates(), after_a_miss).tolist() == [False, True, True, False, False, False]
    well_later = replace(after_a_miss, runs=np.array([1, 1, 0, 0, 0, 0]))
    assert not close_to_a_miss(candidates(), well_later).any()


def test_from_a_trial_the_next_run_can_go_back_to_the_best_that_was_measured(after_a_miss):
    stuck, near = trial_vetoes(candidates(), after_a_miss, OPEN, 0, allowed)
    assert (stuck.rows.tolist(), stuck.code) == ([False, False, False, False, True, False], NO_WAY_BACK)
    assert near.rows.tolist() == [False, False, True, False, False, False]


def test_where_nothing_else_is_left_a_trial_may_be_near_a_miss_but_goes_nowhere_without_a_way_back(after_a_miss):
    only = np.array([True, True, True, False, False, False])
    assert [*trial_vetoes(candidates(), after_a_miss, only, 0, always)] == []
    both = np.array([True, True, True, False, True, False])
    (stuck,) = trial_vetoes(candidates(), after_a_miss, both, 0, allowed)
    assert (stuck.rows.tolist(), stuck.code) == ([False, False, False, False, True, False], NO_WAY_BACK)


def test_where_the_limits_let_nothing_go_back_to_the_best_they_do_not_keep_anything_from_being_tried(after_a_miss):
    """The first values are dearer than [limits] allows now: whatever is tried is cheaper."""
    assert [hold.code for hold in trial_vetoes(candidates(), after_a_miss, OPEN, 0, lambda _before, _after: False)] == [
        NEAR_A_MISS
    ]


def test_what_is_likely_to_fail_is_not_what_is_left(after_a_miss):
    fails = replace(after_a_miss, p_fail=np.array([0.0, 0.0, 0.0, 0.9, 0.9, 0.9]))
    assert [*trial_vetoes(candidates(), fails, OPEN, 0, always)] == []


def test_words_and_what_may_be_nothing_have_no_ratios(belief):
    """Another optimizer, or GPUs where there were none, is another job; 1.5 times the layers is not."""
    known = replace(belief([[0.0] * 4], runs=(0,) * 4, failures=(0,) * 4), stopped=np.array([1, 0, 0, 0]))
    rows = [(0, 0, 2), (1, 0, 2), (0, 1, 2), (0, 0, 3)]
    found = close_to_a_miss(candidates(rows, ("optimizer", "gpus", "num_layers"), {"optimizer": {}}), known)
    assert found.tolist() == [True, False, False, True]
