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
    finding = "each of 3 finished runs failed, or does not say how long it took"
    assert without_evidence(3) == Note("JPO-I610", f"{finding}; one that ended well is needed as reference")
    assert without_evidence(1).text.startswith("the only finished run failed, or")


def test_a_trial_is_explained_with_what_is_expected_its_risk_and_what_it_may_save(grid, belief):
    problem = problem_of(grid(), belief([[0, HALF, 0], [0, math.log(2), 0]]))
    what, why, _budget = found = decision_reasons(problem, 1, 1, "try", by="belief")
    assert what.text == (
        "batch_size 64 was not run yet and is expected to take the same time and cost the same;"
        " chance of being more than 10% worse than today: 50%"
    )
    assert why.text == "trying it may cost a little now and can save over the next 6 runs"
    assert codes_of(found) == ("JPO-I604", "JPO-I605", "JPO-I615")
    assert "JPO-I605" not in codes_of(decision_reasons(problem, 1, 1, "try", by="sac")), "the agent weighs by its own critics"


@pytest.mark.parametrize(("explore", "left", "code"), [("off", 1.0, "JPO-I607"), ("safe", -0.5, "JPO-W606")])
def test_keeping_says_why_nothing_was_tried(grid, belief, explore, left, code):
    problem = problem_of(grid(), belief([[0, HALF, 0]]), explore=explore, budget=1, budget_left=left)
    found = decision_reasons(problem, 0, 1, "keep", by="belief")
    assert (found[0].code, found[-1].code) == ("JPO-I602", code)
    assert found[-1].text.startswith({"off": "exploring is off", "safe": "the last suggestions cost 1.5 runs"}[explore])


def test_a_measured_configuration_is_explained_with_its_runs_failures_and_stops(grid, belief):
    believed = belief([[0, HALF, 0]], runs=(2, 2, 0), failures=(0, 1, 2))
    problem = problem_of(grid(), believed)
    assert measured(problem, 1) == "was run 2 times, failed once and is expected to take 50% less time and cost 50% less"
    assert measured(problem, 2) == "failed 2 times and is expected to take the same time and cost the same when it ends well"


def test_the_way_out_of_failure_names_the_failures_and_the_chance_of_the_next_one(grid, belief):
    believed = belief([[0, 0, 0]], runs=(0, 0, 1), failures=(3, 0, 0), p_fail=(0.9, 0.25, 0))
    (found,) = out_of_failure(problem_of(grid(), believed), 1)
    assert found.text.startswith("today's values failed 3 times and never ended well")
    assert found.text.endswith("batch_size 64 comes nearest to it and fails with a chance of 25%")
    assert found.code == "JPO-W617"


def test_the_watches_speak_only_of_intervals_that_were_widened():
    assert interval_warnings(1.0) == loss_interval_warnings(1.0) == ()
    assert (codes_of(interval_warnings(1.5)), codes_of(loss_interval_warnings(2.0))) == (("JPO-W616",), ("JPO-W816",))
    assert "by a factor of 1.5" in interval_warnings(1.5)[0].text


def test_after_several_equal_answers_the_next_trial_and_its_cost_are_named(grid, belief):
    believed = belief([[0, 0.2, 0.4], [0, 0.2, -0.3]])
    problem = problem_of(grid(), believed, repeated=3, min_confidence=0.7)
    sentences, codes = said(problem, 0, 0, "keep", by="belief")
    trial = "the most informative next trial is batch_size 128, expected to cost 1.1 runs of today's"
    assert sentences[0] == f"settled: 1 of 3 tried; {trial}; `jpo suggest --explore on` runs it"
    assert codes[:2] == ("JPO-I625", "JPO-I602")
    assert "JPO-I625" not in said(problem_of(grid(), believed, repeated=2), 0, 0, "keep", by="belief")[1]


def test_what_holds_the_favourite_back_is_said(grid, belief):
    believed = belief([[0, -0.2, 0.4], [0, 0.2, 0.4]])
    why = Veto(np.array([False, True, False]), "asks for more gpus than any run so far", "JPO-I622", lasting=False)
    for more, code in (({"holds": (why,)}, "JPO-I622"), ({"min_confidence": 0.7}, "JPO-I624")):
        sentences, codes = said(problem_of(grid(), believed, **more), 0, 1, "keep", by="belief")
        assert code in codes
        assert any(sentence.startswith("batch_size 64 looks promising") for sentence in sentences)


def test_a_trial_without_any_measured_loss_says_so(grid, belief):
    problem = problem_of(grid(), belief([[0, HALF, 0]]), quality_floor=0.02)
    assert "JPO-W628" in said(problem, 1, 1, "try", by="belief")[1]


def test_a_trial_says_both_chances_that_it_is_cheap_and_that_it_keeps_the_loss(grid, belief):
    believed = replace(belief([[0, HALF, 0]] * 4, val_loss=0.5), log_loss=np.log([[1.0, 1.0, 1.0]] * 3 + [[1.0, 1.2, 1.0]]))
    problem = problem_of(grid(), believed, quality_floor=0.02)
    sentences, _ = said(problem, 1, 1, "try", by="belief")
    assert problem.comparison.p_loss_kept.tolist() == [1, 0.75, 1]
    both = "ends well and costs no more than a tenth more than today: 99%, that it keeps the validation loss within 2%: 75%"
    assert both in sentences[0]


def test_what_was_tried_counts_though_it_may_not_be_tried_any_more(grid, belief):
    believed = belief([[0, 0.2, 0.4], [0, 0.2, -0.3]], runs=(1, 0, 0), failures=(0, 2, 0))
    problem = problem_of(grid(admissible=[True, False, True]), believed, repeated=3, min_confidence=0.7)
    assert said(problem, 0, 0, "keep", by="belief")[0][0].startswith("settled: 2 of 3 tried")


def test_a_value_that_ran_beside_other_ones_is_new_with_those_of_today_alone(grid, belief):
    candidates = replace(grid(), names=("batch_size", "gpus"), values=np.array([[32.0, 1.0], [64.0, 2.0], [64.0, 1.0]]))
    ran_elsewhere = problem_of(candidates, belief([[0, 0.1, HALF]], runs=(1, 1, 0)))
    assert said(ran_elsewhere, 2, 2, "try", by="sac")[0][0].startswith(
        "batch_size 64 was not run yet with the other values of today and is expected to"
    )
    never = problem_of(candidates, belief([[0, 0.1, HALF]], runs=(1, 0, 0)))
    assert said(never, 2, 2, "try", by="sac")[0][0].startswith("batch_size 64 was not run yet and is expected to")


def test_what_too_little_memory_keeps_from_is_said_though_nobody_would_choose_it(grid, belief):
    hold = Veto(np.array([False, True, False]), "needs more host memory than it may have", "JPO-I648", lasting=False)
    believed = belief([[0, HALF, 0]], p_fail=(0, 0.8, 0))
    sentences, codes = said(problem_of(grid(), believed, holds=(hold,)), 0, 0, "keep", by="belief")
    assert "batch_size 64 looks promising but needs more host memory than it may have" in sentences
    assert "JPO-I648" in codes
    equal = belief([[0, 0, 0]], p_fail=(0, 0.8, 0))
    assert "JPO-I648" not in said(problem_of(grid(), equal, holds=(hold,)), 0, 0, "keep", by="belief")[1]
    liked = said(problem_of(grid(), believed, holds=(hold,)), 0, 1, "keep", by="belief")[1]
    assert liked.count("JPO-I648") == 1, "once"
