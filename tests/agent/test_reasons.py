import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.reasons import (
    decision_reasons,
    interval_warnings,
    loss_interval_warnings,
    measured,
    out_of_failure,
    without_evidence,
)
from jpo.agent.safety.queue_waits import TOO_LATE
from jpo.agent.safety.vetoes import Veto
from jpo.records import Note, Preference, codes_of, texts_of
from tests.asked import a_problem

TIME = Preference(1, 0, 0)
HALF = math.log(0.5)


def problem_of(candidates, believed, **more):
    return a_problem(candidates, believed, TIME, **more)


def said(*arguments, **more):
    """Sentences and codes."""
    found = decision_reasons(*arguments, **more)
    return texts_of(found), codes_of(found)


def test_before_a_run_that_ended_well_the_reason_says_which_one_is_needed():
    assert without_evidence(0).code == "JPO-I601"
    finding = "each of 3 finished runs failed or does not say how long it took"
    assert without_evidence(3) == Note("JPO-I610", f"{finding}: JPO needs one that ended well as a reference")
    assert without_evidence(1).text.startswith("the only finished run failed or")


def test_what_is_expected_of_a_trial_and_how_likely_is_left_to_the_headline(grid, belief):
    problem = problem_of(grid(), belief([[0, HALF, 0], [0, math.log(2), 0]]), min_confidence=0.7)
    what, _budget = found = decision_reasons(problem, 1, 1, by="belief")
    assert what.text == "batch_size 64 has not been tried"
    assert codes_of(found) == ("JPO-I604", "JPO-I615")


@pytest.mark.parametrize(("explore", "left", "code"), [("off", 1.0, "JPO-I607"), ("safe", -0.5, "JPO-W606")])
def test_keeping_says_why_nothing_was_tried(grid, belief, explore, left, code):
    problem = problem_of(grid(), belief([[0, HALF, 0]]), explore=explore, budget=1, budget_left=left)
    found = decision_reasons(problem, 0, 1, by="belief")
    assert (found[0].code, found[-1].code) == ("JPO-I602", code)
    assert found[-1].text.startswith({"off": "explore is off", "safe": "the last suggestions cost 1.5 runs"}[explore])


def test_a_measured_configuration_is_explained_with_its_runs_failures_and_stops(grid, belief):
    believed = belief([[0, HALF, 0]], runs=(2, 2, 0), failures=(0, 1, 2))
    problem = problem_of(grid(), believed)
    assert measured(problem, 1) == "ended well 2 times and failed once"
    assert measured(problem, 2) == "failed 2 times"


def test_the_way_out_of_failure_names_the_failures_and_the_chance_of_the_next_one(grid, belief):
    believed = belief([[0, 0, 0]], runs=(0, 0, 1), failures=(3, 0, 0), p_fail=(0.9, 0.25, 0))
    (found,) = out_of_failure(problem_of(grid(), believed), 1)
    assert found.text.startswith("today's values failed 3 times and never ended well")
    assert found.text.endswith("batch_size 64 comes nearest to them and fails with a chance of 25%")
    assert found.code == "JPO-W617"


def test_the_watches_speak_only_of_intervals_that_were_widened():
    assert interval_warnings(1.0) == loss_interval_warnings(1.0) == ()
    assert (codes_of(interval_warnings(1.5)), codes_of(loss_interval_warnings(2.0))) == (("JPO-W616",), ("JPO-W816",))
    assert "by a factor of 1.5" in interval_warnings(1.5)[0].text


def test_a_settled_job_says_how_much_was_tried(grid, belief):
    worse, even = belief([[0, 0.2, 0.4]]), belief([[0, 0.2, 0.4], [0, 0.2, -0.3]])
    sentences, codes = said(problem_of(grid(), worse, min_confidence=0.7), 0, 0, by="belief")
    assert sentences[0] == "settled: 1 of 3 configurations have been tried, and no other is likely to be better"
    assert codes[:2] == ("JPO-I625", "JPO-I602")
    assert "JPO-I625" not in said(problem_of(grid(), even, min_confidence=0.7), 0, 0, by="belief")[1]
    assert "JPO-I625" not in said(problem_of(grid(), worse, explore="on"), 0, 0, by="belief")[1]


HELD_BACK = {
    "JPO-I624": ({}, "is better than today and keeps the validation loss is only 50% ([agent] min_confidence is 70%)"),
    "JPO-I672": ({"trials_earned": 5.5, "trials_made": 5}, "5 of the 5.5 trials allowed so far have been made"),
    "JPO-I608": ({}, "expected +5% for the next run; chance that it ends well and costs no more than a tenth more: 50%"),
    "JPO-I673": ({}, "asks for more than any run had: JPO tries batch and rate first, or the gain is too small"),
}


@pytest.mark.parametrize("code", HELD_BACK)
def test_the_rule_that_holds_the_favourite_back_is_said(grid, belief, code):
    more, end = HELD_BACK[code]
    candidates = replace(grid((1, 2, 4)), names=("gpus",)) if code == "JPO-I673" else grid()
    dearer = 0.3 if code == "JPO-I608" else 0.02
    believed = belief([[0, -0.2, 0.4], [0, dearer, 0.4]], runs=(2, int(code == "JPO-I624"), 0))
    sentences, codes = said(problem_of(candidates, believed, **more, min_confidence=0.7), 0, 1, by="belief")
    assert codes[:2] == ("JPO-I602", code)
    assert sentences[1].startswith(f"{candidates.names[0]} {'2' if code == 'JPO-I673' else '64'} looks promising, but ")
    assert sentences[1].endswith(end)


def test_a_hold_on_what_looks_better_is_said(grid, belief):
    why = Veto(np.array([False, True, False]), "waits too long", TOO_LATE, lasting=False)
    problem = problem_of(grid(), belief([[0, -0.2, 0.4]]), holds=(why,), min_confidence=0.7)
    for favourite in (0, 1):
        assert said(problem, 0, favourite, by="belief")[0].count("batch_size 64 looks promising but waits too long") >= 1


def test_a_trial_without_any_measured_loss_says_so(grid, belief):
    problem = problem_of(grid(), belief([[0, HALF, 0]]), quality_floor=0.02)
    assert "JPO-W628" in said(problem, 1, 1, by="belief")[1]


def test_what_was_tried_counts_though_it_may_not_be_tried_any_more(grid, belief):
    believed = belief([[0, 0.2, 0.4]], runs=(1, 0, 0), failures=(0, 2, 0))
    problem = problem_of(grid(admissible=[True, False, True]), believed, min_confidence=0.7)
    assert said(problem, 0, 0, by="belief")[0][0].startswith("settled: 2 of 3 configurations have been tried")


def test_a_value_that_ran_beside_other_ones_is_new_with_those_of_today_alone(grid, belief):
    candidates = replace(grid(), names=("batch_size", "gpus"), values=np.array([[32.0, 1.0], [64.0, 2.0], [64.0, 1.0]]))
    ran_elsewhere = problem_of(candidates, belief([[0, 0.1, HALF]], runs=(1, 1, 0)))
    assert said(ran_elsewhere, 2, 2, by="sac")[0][0] == "batch_size 64 has not been tried with the other values of today"
    never = problem_of(candidates, belief([[0, 0.1, HALF]], runs=(1, 0, 0)))
    assert said(never, 2, 2, by="sac")[0][0] == "batch_size 64 has not been tried"


def test_what_too_little_memory_keeps_from_is_said_though_nobody_would_choose_it(grid, belief):
    hold = Veto(np.array([False, True, False]), "needs more host memory than is allowed", "JPO-I648", lasting=False)
    believed = belief([[0, HALF, 0]], p_fail=(0, 0.8, 0))
    sentences, codes = said(problem_of(grid(), believed, holds=(hold,)), 0, 0, by="belief")
    assert "batch_size 64 looks promising but needs more host memory than is allowed" in sentences
    assert "JPO-I648" in codes
    equal = belief([[0, 0, 0]], p_fail=(0, 0.8, 0))
    assert "JPO-I648" not in said(problem_of(grid(), equal, holds=(hold,)), 0, 0, by="belief")[1]
    liked = said(problem_of(grid(), believed, holds=(hold,)), 0, 1, by="belief")[1]
    assert liked.count("JPO-I648") == 1, "once"
