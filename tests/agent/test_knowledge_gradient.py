"""What a trial would teach, with two particles and outcomes by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jpo.agent.knowledge_gradient import knowledge_gain

EVEN = np.array([0.5, 0.5])
ANY = np.ones(2, bool)


def test_a_trial_that_may_halve_or_double_the_cost_is_worth_a_quarter_of_a_run():
    cost = np.array([[1.0, 0.5], [1.0, 2.0]])  # known to be half: take it; double: stay. (0.5 + 1) / 2 = 0.75
    assert knowledge_gain(cost, EVEN, np.array([1]), ANY) == pytest.approx([0.25])


def test_a_trial_that_always_loses_still_shows_which_other_one_to_take():
    cost = np.array([[1.0, 1.1, 0.5], [1.0, 3.0, 2.0]])
    assert knowledge_gain(cost, EVEN, np.array([1, 2]), np.ones(3, bool)) == pytest.approx([0.25, 0.25])


def test_what_may_not_be_chosen_afterwards_is_worth_nothing():
    cost = np.array([[1.0, 0.5], [1.0, 2.0]])
    assert knowledge_gain(cost, EVEN, np.array([1]), np.array([True, False])) == pytest.approx([0.0])


def test_nothing_is_learnt_where_all_particles_agree():
    assert knowledge_gain(np.array([[1.0, 0.5], [1.0, 0.5]]), EVEN, np.array([1]), ANY) == pytest.approx([0.0])
    assert knowledge_gain(np.array([[1.0, 0.5], [1.0, 2.0]]), np.array([1.0, 0.0]), np.array([1]), ANY) == pytest.approx([0.0])


def test_outcomes_closer_than_the_spread_of_runs_teach_little():
    near, far = (knowledge_gain(np.array([[1.0, 1 - d], [1.0, 1 + d]]), EVEN, np.array([1]), ANY)[0] for d in (0.02, 0.5))
    assert 0 <= near < 0.02 / 2
    assert far == pytest.approx(0.25, abs=0.01)


@given(arrays(np.float64, (6, 4), elements=st.floats(0.05, 20)), arrays(np.float64, 6, elements=st.floats(0.01, 1)))
def test_a_trial_is_worth_no_less_than_nothing_and_no_more_than_to_know_everything(cost, weights):
    weights = weights / weights.sum()
    gain = knowledge_gain(cost, weights, np.arange(4), np.ones(4, bool))
    everything = (weights @ cost).min() - weights @ cost.min(axis=1)
    assert (gain >= 0).all()
    assert (gain <= everything + 1e-6 * cost.max()).all()
