"""A promised validation loss that today's values break, by hand: four equally likely jobs, batch sizes 32 (today), 64 and 128."""

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.decide import decide
from jpo.agent.safety.promise import TRIED, promise_of
from jpo.records import Preference
from tests.asked import a_problem, changed

TIME = Preference(1, 0, 0)
LIKELY = [[0, -0.1, 0], [0, -0.1, 0], [0, -0.1, 0], [0, 0.1, 0]]
"""Batch size 64 lowers the loss in three of four jobs."""


def believed(belief, log_loss, **changes):
    return replace(belief([[0, 0, 0]] * 4, val_loss=0.5, **changes), log_loss=np.array(log_loss, float))


def test_there_is_none_where_it_is_kept_or_no_loss_was_measured(grid, belief):
    assert promise_of(grid(), believed(belief, LIKELY), 0, 0.5) is None
    assert promise_of(grid(), belief([[0, 0, 0]]), 0, 0.1) is None


def test_what_lowers_the_loss_with_enough_confidence_comes_first_and_claims_just_that(grid, belief):
    promise = promise_of(grid(), believed(belief, LIKELY), 0, 0.1)
    assert promise.lowering.tolist() == [False, True, False]
    assert promise.p_lower.tolist() == [0, 0.75, 0]
    assert promise.first(0.7).tolist() == [False, True, False]
    assert not promise.first(0.8).any()
    assert a_problem(grid(), believed(belief, LIKELY), TIME, promise=promise).comparison.p_better[1] == 0.75


def test_a_lower_loss_is_worth_half_as_much_time_again_until_the_promise_seems_out_of_reach(grid, belief):
    slow = replace(believed(belief, [[0, -0.1, -0.1]] * 4), log_time=np.array([[0, 0.3, 0.5]] * 4))
    assert promise_of(grid(), slow, 0, 0.1).lowering.tolist() == [False, True, False]
    tried = replace(slow, runs=np.ones(3, int))
    promise = promise_of(grid(), tried, 0, 0.1)
    assert (promise.tried, promise.out_of_reach, promise.lowering.any()) == (TRIED, True, False)
    assert not promise_of(grid(), tried, 0, 0.46).out_of_reach


def test_it_is_said_what_was_reached_and_that_it_seems_out_of_reach(grid, belief):
    once = believed(belief, np.zeros((4, 3)))
    assert promise_of(grid(), once, 0, 0.1).note().code == "JPO-W638"
    note = promise_of(grid(), replace(once, runs=np.ones(3, int)), 0, 0.1).note()
    assert (note.code, "the best of 3 models that were tried reached 0.5" in note.text) == ("JPO-W639", True)


def test_where_nothing_is_sure_enough_what_is_tried_is_of_the_loss_though_nothing_else_is_better(grid, belief):
    even = believed(belief, [[0, -0.1, 0], [0, -0.1, 0], [0, 0.05, 0], [0, 0.05, 0]])
    promise = promise_of(grid(), even, 0, 0.1)
    problem = a_problem(grid(), even, TIME, promise=promise, min_confidence=0.7)
    assert problem.comparison.p_better[1] == pytest.approx(0.5)
    assert problem.allowed.tolist() == [True, True, False]
    assert changed(problem, promise=None).exploration.settled
    found = decide(problem, None, 1)
    assert (found.choice, found.kind, found.codes[0]) == (1, "trial", "JPO-I640")
    assert decide(changed(problem, trials_earned=1, trials_made=1), None, 1).kind == "kept"
