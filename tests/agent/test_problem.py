from jpo.agent.context import Context
from jpo.records import Preference
from tests.asked import a_problem, changed

TIME = Preference(1, 0, 0)
RISKY = [[0, -0.1, -2.0]] * 3 + [[0, -0.1, 2.0]]


def test_acquisition_values_are_computed_once_and_kept_under_another_boldness_and_context(grid, belief):
    problem = a_problem(grid(), belief(RISKY), TIME)
    bold = changed(problem, explore="on", context=Context(runs_left=0))
    assert problem.acquisition is problem.acquisition
    assert bold.comparison.weighed is problem.comparison.weighed
    assert bold.comparison.objective is problem.comparison.objective
    assert (bold.acquisition.score >= problem.acquisition.score).all()
    assert (problem.boldness.explore, bold.boldness.explore) == ("safe", "on")


def test_where_the_runs_are_counted_a_trial_is_chosen_if_it_pays_for_itself_in_them(grid, belief):
    unsure = [[0, 0.3, 0.6]] * 2 + [[0, -0.5, 0.6]]
    problem = a_problem(grid(), belief(unsure), TIME, explore="on")
    chosen = {
        left: changed(problem, nightly=True, context=Context(runs_left=left, nightly=True)).acquisition.score.argmin()
        for left in (0, 9)
    }
    assert chosen == {0: 0, 9: 1}


def test_values_that_ran_and_never_ended_well_are_no_choice_then(grid, belief):
    believed = belief([[0, -1.0, 0.6]], runs=(1, 0, 0), failures=(0, 1, 0))
    problem = a_problem(grid(), believed, TIME, explore="on", nightly=True, context=Context(runs_left=9, nightly=True))
    assert problem.acquisition.score[1] == float("inf")
