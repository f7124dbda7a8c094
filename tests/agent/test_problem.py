import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.context import Context
from jpo.agent.problem import Problem, known_best, may_try
from jpo.records import Preference

TIME = Preference(1, 0, 0)
RISKY = [[0, -0.1, -2.0]] * 3 + [[0, -0.1, 2.0]]
"""Batch size 128 is far better in three of four jobs, and far worse in one."""


def test_acquisition_values_are_computed_once_and_kept_under_another_boldness_and_context(grid, belief):
    problem = Problem(grid(), belief(RISKY), TIME)
    bold = problem.under(explore="on", context=Context(runs_left=0))
    assert problem.acquisition is problem.acquisition
    assert bold.weighed is problem.weighed
    assert (bold.acquisition.score >= problem.acquisition.score).all()
    assert (problem.explore, bold.explore) == ("safe", "on")


def test_what_may_be_tried_follows_from_explore_confidence_and_budget(grid, belief):
    problem = Problem(grid(), belief(RISKY), TIME)
    assert may_try(problem).tolist() == [True, True, False]
    assert may_try(problem.under(explore="on")).all()
    assert may_try(Problem(grid(), belief(RISKY), TIME, confidence=0.7)).all()


@pytest.mark.parametrize("changes", [{"explore": "off"}, {"explore": "on", "budget_left": -0.1}])
def test_where_nothing_new_may_be_tried_the_best_known_row_alone_is_allowed(grid, belief, changes):
    problem = Problem(grid(), belief([[0, -0.5, -2.0]], runs=(2, 2, 0)), TIME, **changes)
    assert problem.only_measured
    assert known_best(problem) == 1
    assert problem.allowed.tolist() == [False, True, False]


def test_the_best_known_row_is_today_unless_another_is_better_by_more_than_noise(grid, belief):
    assert known_best(Problem(grid(), belief([[0, -0.01, 0]], runs=(1, 1, 0)), TIME)) == 0
    assert known_best(Problem(grid(), belief([[0, math.log(0.5), 0]], runs=(1, 1, 0)), TIME)) == 1
    assert known_best(Problem(grid(admissible=[False, True, True]), belief([[0, 0.5, 0]], runs=(1, 1, 0)), TIME)) == 1


def test_a_model_is_worse_against_the_reference(grid, belief):
    losses = np.log([[1.0, 1.0, 0.8]])
    believed = replace(belief([[0, 0, 0]], runs=(2, 2, 2), val_loss=0.5), log_loss=losses)
    assert Problem(grid(), believed, TIME, reference=2).acquisition.incumbent == 2
    assert Problem(grid(), believed, TIME).acquisition.incumbent == 0
