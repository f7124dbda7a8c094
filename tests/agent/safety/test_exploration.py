import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.budget import PATIENCE
from jpo.agent.safety.vetoes import Veto
from jpo.records import Candidates, Preference
from tests.asked import a_problem, changed

TIME = Preference(1, 0, 0)
RISKY = [[0, -0.1, -2.0]] * 3 + [[0, -0.1, 2.0]]
"""Batch size 128 is far better in three of four jobs, and far worse in one."""


def test_what_may_be_tried_follows_from_explore_confidence_and_budget(grid, belief):
    problem = a_problem(grid(), belief(RISKY), TIME)
    assert problem.exploration.may_try.tolist() == [True, True, False]
    assert problem.under("on").exploration.may_try.all()
    assert a_problem(grid(), belief(RISKY), TIME, confidence=0.7).exploration.may_try.all()


@pytest.mark.parametrize("changes", [{"explore": "off"}, {"explore": "on", "budget_left": -0.1}])
def test_where_nothing_new_may_be_tried_the_best_known_row_alone_is_allowed(grid, belief, changes):
    problem = a_problem(grid(), belief([[0, -0.5, -2.0]], runs=(2, 2, 0)), TIME, **changes)
    assert problem.exploration.only_measured
    assert problem.exploration.known_best == 1
    assert problem.allowed.tolist() == [False, True, False]


def test_the_best_known_row_is_today_unless_another_is_better_by_more_than_noise(grid, belief):
    assert a_problem(grid(), belief([[0, -0.01, 0]], runs=(1, 1, 0)), TIME).exploration.known_best == 0
    assert a_problem(grid(), belief([[0, math.log(0.5), 0]], runs=(1, 1, 0)), TIME).exploration.known_best == 1
    assert (
        a_problem(grid(admissible=[False, True, True]), belief([[0, 0.5, 0]], runs=(1, 1, 0)), TIME).exploration.known_best == 1
    )


def test_a_trial_that_was_stopped_is_not_stayed_at_however_cheap_its_run_seems(grid, belief):
    believed = replace(belief([[0, 0.5, 0]], runs=(0, 1, 0)), stopped=np.array([1, 0, 0]))
    assert a_problem(grid(), believed, TIME).exploration.known_best == 0
    assert a_problem(grid(), believed, TIME, unproven=True).exploration.known_best == 1
    nothing = replace(believed, runs=np.zeros(3, dtype=np.int64))
    assert a_problem(grid(), nothing, TIME, unproven=True).exploration.known_best == 0


def hold(*rows, lasting=True):
    return Veto(np.array(rows), "asks for too much", "JPO-I622", lasting)


def test_what_is_held_may_not_be_run_and_only_lasting_holds_count_where_anything_may_be_tried(grid, belief):
    for lasting, bold in ((True, [True, False, True]), (False, [True, True, True])):
        problem = a_problem(grid(), belief([[0, -0.1, -0.1]]), TIME, holds=(hold(False, True, False, lasting=lasting),))
        assert problem.allowed.tolist() == [True, False, True]
        assert problem.under("on").allowed.tolist() == bold


def test_below_the_least_confidence_nothing_is_written_under_safe(grid, belief):
    half_sure = [[0, 0.2, -0.2], [0, -0.2, -0.2]]
    problem = a_problem(grid(), belief(half_sure), TIME, confidence=0.5, min_confidence=0.7)
    assert problem.allowed.tolist() == [True, False, True]
    assert problem.under("on").allowed.all()


def test_a_trial_that_was_asked_for_is_the_most_informative_of_what_is_left(grid, belief):
    likely_worse = [[0, 0.3, 0.5], [0, -0.1, -1.0], [0, 0.3, 0.5]]
    problem = a_problem(grid(), belief(likely_worse), TIME, exploration_runs_left=1, min_confidence=0.7)
    assert problem.allowed.tolist() == [False, False, True]
    failing = a_problem(grid(), belief(likely_worse, p_fail=(0, 0, 0.5)), TIME, exploration_runs_left=1)
    assert failing.exploration.next_trial == 1
    all_tried = a_problem(grid(), belief(likely_worse, runs=(1, 1, 1)), TIME, exploration_runs_left=1)
    assert all_tried.exploration.next_trial is None
    assert all_tried.allowed.any()


def test_standing_still_earns_a_trial_while_there_is_a_budget(grid, belief):
    even = belief([[0, 0.5, 0.5], [0, -0.3, 0.5], [0, -0.3, 0.5], [0, 0.3, 0.5]])
    still = {"min_confidence": 0.7, "repeated": PATIENCE}
    assert a_problem(grid(), even, TIME, **still).allowed.tolist() == [False, True, False]
    for changes in ({"repeated": PATIENCE - 1}, {"budget_left": 0.5}, {"explore": "off"}):
        assert a_problem(grid(), even, TIME, **{**still, **changes}).allowed.tolist() == [True, False, False]
    little = belief([[0, 0.5, 0.5], [0, -0.1, 0.5], [0, -0.1, 0.5], [0, 0.3, 0.5]])
    assert a_problem(grid(), little, TIME, **still).allowed.tolist() == [True, False, False], "the rule expects no gain of it"


def test_other_batches_are_tried_before_more_gpus_than_ever(belief):
    """Twice the batch on twice the GPUs looks best, and twice the batch alone is worth a trial, too."""
    values = np.array([[32.0, 1], [64, 1], [64, 2]])
    candidates = Candidates(("batch_size", "gpus"), values, 0, np.ones(3, bool), np.zeros(3))
    faster = belief([[0, -0.3, -0.6]] * 4)
    assert a_problem(candidates, faster, TIME, min_confidence=0.7).allowed.tolist() == [True, True, False]
    assert a_problem(candidates, faster, TIME).allowed.tolist() == [True, True, True], "where nobody wants it careful"
    tried = belief([[0, -0.3, -0.6]] * 4, runs=(1, 1, 0))
    assert a_problem(candidates, tried, TIME, min_confidence=0.7).allowed.tolist() == [True, True, True]


def test_where_today_may_not_stay_the_best_that_ended_well_is_no_gamble(grid, belief):
    known = belief([[0, 0.1, 0.4]] * 4, runs=(1, 1, 0))
    elsewhere = grid(admissible=(False, True, True))
    assert a_problem(elsewhere, known, TIME, min_confidence=0.7).allowed.tolist() == [False, True, False]


def test_values_that_ended_well_are_no_gamble_where_todays_only_failed(grid, belief):
    failed = belief([[0, 0.2, 0.4]] * 4, runs=(0, 1, 0), failures=(1, 0, 0), p_fail=(0.6, 0.1, 0.1))
    assert a_problem(grid(), failed, TIME, min_confidence=0.7).allowed[1]


def test_nothing_stands_still_for_good_while_something_is_left_and_the_budget_is_full(grid, belief):
    little = [[0, -0.001, 0.05], [0, 0.02, 0.05]]
    still = a_problem(grid(), belief(little), TIME, min_confidence=0.7, repeated=PATIENCE)
    assert not still.exploration.earned
    assert not changed(still, repeated=5 * PATIENCE, budget_left=still.boldness.budget - 0.1).exploration.earned
    assert changed(still, repeated=5 * PATIENCE).allowed.tolist() == [False, True, False]


@pytest.mark.parametrize(("name", "earned"), [("dropout", True), ("batch_size", False)])
def test_a_parameter_of_the_teams_own_need_not_wait_for_its_trial(grid, belief, name, earned):
    candidates = replace(grid(), names=(name,))
    even = belief([[0, -0.4, 0.3], [0, 0.25, 0.3], [0, -0.2, 0.3]])  # two in three: below min_confidence, safe with even odds
    still = a_problem(candidates, even, TIME, min_confidence=0.7, repeated=1)
    assert still.exploration.earned == earned
    assert still.allowed.tolist() == ([False, True, False] if earned else [True, False, False])
    assert not changed(still, budget_left=still.boldness.budget / 2 - 0.1).exploration.earned, "the budget says what it may cost"
    assert not changed(still, explore="off").exploration.earned


def test_what_changes_a_known_parameter_too_waits(grid, belief):
    values = np.array([[32, 0.1], [64, 0.2], [32, 0.2]])
    candidates = replace(grid(), names=("batch_size", "dropout"), values=values)
    even = belief([[0, -0.5, -0.4], [0, 0.25, 0.25], [0, -0.3, -0.2]])
    assert a_problem(candidates, even, TIME, min_confidence=0.7).allowed.tolist() == [False, False, True]


def test_what_pays_off_without_a_parameter_of_the_teams_own_goes_first(grid, belief):
    values = np.array([[4, 0.4], [2, 0.4], [4, 0.2]])
    candidates = replace(grid(), names=("gpus", "dropout"), values=values)
    fewer = belief([[0, -0.5, -0.4], [0, -0.5, 0.25], [0, -0.5, -0.2]])
    problem = a_problem(candidates, fewer, TIME, min_confidence=0.7, repeated=1)
    assert not problem.exploration.earned
    assert problem.allowed[1]
    more = belief([[0, 0.5, -0.4], [0, 0.5, 0.25], [0, 0.5, -0.2]])
    assert changed(problem, belief=more).allowed.tolist() == [False, False, True]
