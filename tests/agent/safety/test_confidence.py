"""Chances of claims, by hand: four equally likely jobs."""

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.safety import confidence
from jpo.agent.safety.confidence import MOST, log_loss_of, p_loss_below, p_loss_worse
from jpo.records import Candidates, Preference
from tests.asked import a_problem

BALANCED = Preference()


def comparison(believed, candidates, preference=BALANCED, tolerance=None):
    return a_problem(candidates, believed, preference, reference=0, quality_floor=tolerance).comparison


def p_nothing_better(belief, candidates, preference, rows, *, reference):
    return confidence.p_nothing_better(
        belief, a_problem(candidates, belief, preference, reference=reference).comparison.against_today, rows
    )


def with_loss(believed, log_loss):
    return replace(believed, log_loss=np.array(log_loss, float), val_loss=0.3)


def test_a_change_claims_to_be_better_and_a_trial_to_cost_at_most_a_tenth_more(grid, belief):
    logs = [[0, 0.05, 0.05], [0, -0.1, -0.1], [0, -0.1, -0.1], [0, 0.4, 0.4]]
    for runs in ((1, 1, 0), (1, 0, 0)):
        claims = comparison(belief(logs, runs=runs), grid())
        assert claims.p_better.tolist() == pytest.approx([0, 0.5, 0.5])
        assert claims.p_safe.tolist() == pytest.approx([MOST, 0.75, 0.75])


def test_what_may_fail_or_lose_claims_less(grid, belief):
    one_loses = [[0, 0.1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    believed = with_loss(belief([[0, -0.1, -0.1]] * 4, runs=(1, 1, 1), p_fail=(0, 0, 0.5)), one_loses)
    assert comparison(believed, grid(), tolerance=0.02).p_better.tolist()[1:] == pytest.approx([0.75, 0.5])
    assert comparison(believed, grid(), Preference(1, 0)).p_better[2] == pytest.approx(0.5)


def test_the_floor_judges_the_loss_of_a_trial_and_its_claim_is_of_time_and_cost(grid, belief):
    believed = with_loss(belief([[0, -0.1, 0.3]] * 4), [[0, 0.3, 0]] * 4)
    assert comparison(believed, grid(), tolerance=0.02).p_safe.tolist() == [MOST, MOST, 0]
    assert comparison(believed, grid(), tolerance=0.02).p_better.tolist() == [0, 0, 0], "better values keep the loss"
    assert comparison(believed, grid()).p_safe[1] == 0, "without a floor it counts as the preference has it"


def test_nothing_is_claimed_beyond_what_the_belief_carries(grid, belief):
    assert comparison(belief([[0, -1, -1]]), grid()).p_better[1] == MOST
    assert p_nothing_better(belief([[0, 1, 1]]), grid(), BALANCED, np.array([False, True, True]), reference=0) == MOST


def test_keeping_claims_that_nothing_is_better_by_more_than_the_noise(grid, belief):
    others = np.array([False, True, True])
    logs = [[0, -0.3, 0.1], [0, 0.1, 0.1], [0, -0.01, 0.1], [0, 0.1, -0.3]]
    assert p_nothing_better(belief(logs, noise=0.05), grid(), BALANCED, others, reference=0) == pytest.approx(0.5)
    assert p_nothing_better(belief(logs), grid(), BALANCED, ~others & False, reference=0) == MOST


def test_a_worse_loss_counts_against_the_reference_and_only_once_it_is_measured(grid, belief):
    believed = belief([[0, 0, 0]] * 4)
    assert not p_loss_worse(believed, grid(), 0, 0.02).any()
    measured = with_loss(believed, [[0, 0.1, 0], [0, 0.1, 0], [0, 0, 0], [0, 0, 0]])
    assert p_loss_worse(measured, grid(), 0, 0.02).tolist() == [0, 0.5, 0]
    assert p_loss_worse(measured, grid(), 1, 0.02).tolist() == [0, 0, 0]
    assert p_loss_below(with_loss(believed, [[0, -0.1, 0.1]] * 4), grid(), 0.95).tolist() == [0, 1, 0]


def test_hardware_trains_the_same_model(belief):
    rows = Candidates(("batch_size", "gpus"), np.array([[32, 1], [32, 2], [64, 1.0]]), 0, np.ones(3, bool), np.zeros(3))
    believed = with_loss(belief([[0, 0, 0]]), [[0, 0.2, 0.1]])
    assert log_loss_of(believed, rows, 0).tolist() == [[0, 0, 0.1]]
