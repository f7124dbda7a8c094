"""What fails more often than chance would have it, by counts."""

import numpy as np
import pytest

from jpo.agent.decide import decide
from jpo.agent.safety.failing import CODE, chance_of_failing, no_less_than, often_failing, words
from jpo.agent.safety.vetoes import failing_vetoes, held
from jpo.records import Candidates, Preference
from tests.asked import a_problem


@pytest.mark.parametrize(
    ("well", "failed", "others", "often"),
    [
        (2, 1, (5, 0), False),
        (0, 1, (5, 0), False),
        (1, 1, (5, 0), False),
        (1, 2, (5, 0), True),
        (1, 2, (1, 0), True),
        (1, 2, (4, 1), False),
        (1, 2, (7, 3), False),
        (0, 2, (0, 0), True),
        (8, 2, (20, 0), False),
        (8, 4, (30, 0), True),
        (50, 10, (29, 1), False),
    ],
    ids=str,
)
def test_two_of_three_are_no_chance_unless_others_fail_as_well(well, failed, others, often):
    assert often_failing(np.array([others[0], well]), np.array([others[1], failed])).tolist() == [False, often]


def test_what_mostly_fails_says_nothing_of_chance():
    assert often_failing(np.array([5, 1, 1]), np.array([0, 2, 2])).tolist() == [False, True, True]


def test_a_failure_that_is_chance_is_as_likely_everywhere():
    assert chance_of_failing(np.array([8, 0, 0]), np.array([0, 0, 1])).tolist()[:2] == [0.0, 0.0], "nothing has failed by chance"
    here, elsewhere, alone = chance_of_failing(np.array([4, 0, 0]), np.array([1, 0, 2]))
    assert elsewhere == pytest.approx(1.5 / 11)
    assert here == pytest.approx((6 * 1.5 / 11 + 1) / 11), "a little more where it happened"
    assert np.isnan(alone), "that is the configuration's own"
    assert np.isnan(chance_of_failing(np.array([5, 1]), np.array([0, 2]))[1])


def problem(grid, belief, explore="safe", runs=(5, 1, 0), failures=(0, 2, 0), admissible=None, p_fail=0.5):
    candidates = grid((64, 128, 256), current=1, admissible=admissible)
    believed = belief([[0.3, 0.0, -0.3]], runs=runs, failures=failures, p_fail=(0.02, p_fail, 0.5))
    holds = failing_vetoes(candidates, believed)
    return a_problem(candidates, believed, Preference(1, 0, 0), explore=explore, holds=holds, min_confidence=0.7)


@pytest.mark.parametrize("explore", ["off", "safe", "on"])
def test_values_that_fail_often_are_left_for_those_that_end_well_though_these_take_longer(grid, belief, explore):
    found = decide(problem(grid, belief, explore), None, 8)
    assert (found.choice, found.kind, found.codes[0]) == (0, "return", CODE)
    assert found.confidence == pytest.approx(0.98)
    said = "today's configuration failed in 2 of 3 runs (runs with other values: 0 of 5), more often than by chance"
    assert found.reasons[0].text == said


@pytest.mark.parametrize("explore", ["off", "safe"])
def test_one_failure_is_chance(grid, belief, explore):
    found = decide(problem(grid, belief, explore, runs=(5, 3, 1), failures=(0, 1, 0), p_fail=0.2), None, 8)
    assert (found.choice, CODE in found.codes) == (1, False)


def test_where_there_is_no_way_back_it_is_said_all_the_same(grid, belief):
    stuck = decide(problem(grid, belief, "off", admissible=[False, True, True]), None, 8)
    assert (stuck.choice, stuck.codes[0]) == (1, CODE)
    assert stuck.reasons[0].text.endswith("by chance; no values that ended well may be restored")
    alone = decide(problem(grid, belief, "off", runs=(0, 1, 0)), None, 3)
    assert (alone.choice, alone.codes[0]) == (1, CODE)


def test_beyond_one_step_what_lies_nearest_to_it_is_tried(grid, belief):
    found = decide(problem(grid, belief, admissible=[False, True, True], runs=(5, 1, 0)), None, 8)
    assert (found.choice, found.codes) == (2, (CODE,)), "the only other row"
    assert "and no values that ended well are within one step; batch_size 256 comes nearest to them" in found.reasons[0].text


def test_what_asks_for_no_less_is_held_too_until_one_of_them_ends_well(grid, belief):
    candidates = grid((64, 128, 256), current=0)
    seen = belief([[0, 0, 0]], runs=(5, 1, 0), failures=(0, 2, 0))
    assert np.asarray(held(failing_vetoes(candidates, seen), lasting=True)).tolist() == [False, True, True]
    better = belief([[0, 0, 0]], runs=(5, 1, 1), failures=(0, 2, 0))
    assert np.asarray(held(failing_vetoes(candidates, better))).tolist() == [False, True, False]
    assert words(seen, 1) == "failed in 2 of 3 runs (runs with other values: 0 of 5), more often than by chance"


def test_only_what_differs_from_what_ends_well_is_suspected(belief):
    rows = [[64.0, 0.1], [128.0, 0.1], [128.0, 0.01], [64.0, 0.01], [256.0, 0.2]]
    candidates = Candidates(("batch_size", "learning_rate"), np.array(rows), 0, np.ones(5, bool), np.zeros(5))
    seen = belief([[0.0] * 5], runs=(5, 1, 0, 0, 0), failures=(0, 2, 0, 0, 0))
    assert no_less_than(candidates, seen, 1, often_failing(seen.runs, seen.failures)).tolist() == [False, True, True, False, True]


def test_words_are_suspected_as_they_are(belief):
    words_of = {"optimizer": {1.0: 1.0, 2.0: 2.0, 3.0: 3.0}}
    values = np.array([[1.0], [2.0], [3.0]])
    candidates = Candidates(("optimizer",), values, 0, np.ones(3, bool), np.zeros(3), words=words_of)
    seen = belief([[0.0] * 3], runs=(5, 1, 0), failures=(0, 2, 0))
    assert no_less_than(candidates, seen, 1, often_failing(seen.runs, seen.failures)).tolist() == [False, True, False]
