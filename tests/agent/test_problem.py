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
