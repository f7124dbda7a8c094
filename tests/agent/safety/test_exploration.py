"""The rules of what may be run, each by hand: batch sizes 32 (today), 64 and 128, or two of them with GPUs; four equal jobs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.decide import decide
from jpo.agent.safety.confidence import MOST
from jpo.agent.safety.exploration import ASKED_FOR, MEASURED, RULES, WITHIN_BUDGET
from jpo.agent.safety.vetoes import Veto
from jpo.records import Candidates, Preference
from tests.asked import a_problem, changed

TIME = Preference(1, 0, 0)
RISKY = [[0, -0.1, -2.0]] * 3 + [[0, -0.1, 2.0]]
"""Batch size 128 is far better in three of four jobs, and far worse in one."""
TRIAL, BETTER = (-0.4, -0.4, 0.04, 0.04), (-0.1, -0.1, -0.1, -0.1)
"""Better with even odds, and hardly dearer; better for sure."""
WORSE = (0.5, 0.5, 0.5, 0.5)


def safe(candidates, believed, **more):
    return a_problem(candidates, believed, TIME, **{"min_confidence": 0.7, **more})


def logs(*rows):
    """Particles of what was said row by row, today's first."""
    return np.transpose([(0.0,) * 4, *rows])


def tried_out(problem):
    """What the rules of exploring took away, after what must not run."""
    return problem.rules[len(problem.rules) - len(problem.exploration.rules) :]


def took_away(problem):
    """By rule how many rows it took away, where it took any."""
    return {rule.name: rule.removed for rule in tried_out(problem) if rule.removed}


def with_gpus(*values):
    return Candidates(("batch_size", "gpus"), np.array(values, float), 0, np.ones(len(values), bool), np.zeros(len(values)))


def test_the_rules_have_names_and_codes_of_their_own():
    every = [*RULES, ASKED_FOR, MEASURED, WITHIN_BUDGET]
    assert len({rule.name for rule in every}) == len(every)
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_a_trial_that_keeps_every_bound_and_an_improvement_are_both_left(grid, belief):
    problem = safe(grid(), belief(logs(TRIAL, BETTER)))
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, True, True], {})
    assert [problem.exploration.kind(row) for row in range(3)] == ["kept", "trial", "improvement"]


def test_confidence_takes_away_what_ran_and_is_neither_better_nor_a_return(grid, belief):
    likelier = (-0.2, -0.2, 0.1, 0.1)
    problem = safe(grid(), belief(logs(likelier, BETTER), runs=(2, 1, 1)))
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, False, True], {"confidence": 1})
    as_often = safe(grid(), belief(logs(likelier, BETTER), runs=(2, 2, 1)))
    assert as_often.exploration.returns.tolist() == [False, True, False]
    assert as_often.allowed.all(), "what ended well as often as today's need only be likelier than not to be better"
    dearer = safe(grid(), belief(logs((-0.1, -0.1, 0.2, 0.2), BETTER), runs=(2, 2, 1)))
    assert dearer.allowed.tolist() == [True, False, True], "not where a run of it is expected to cost more"


def test_a_settled_job_tries_nothing_more(grid, belief):
    within_noise = (-0.03,) * 4
    problem = safe(grid(), belief(logs(WORSE, within_noise)))
    assert problem.exploration.settled
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, False, True], {"settled": 1})
    one_in_four = (-0.4, 0.5, 0.5, 0.5)
    assert not safe(grid(), belief(logs(one_in_four, within_noise))).exploration.settled, "nothing is better with .75 alone"
    one_in_five = np.array([[0, -0.4, 0.5]] + [[0, 0.5, 0.5]] * 4)
    assert safe(grid(), belief(one_in_five)).exploration.settled


def test_an_overspent_budget_takes_trials_away(grid, belief):
    problem = safe(grid(), belief(logs(TRIAL, BETTER)), budget_left=-0.1)
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, False, True], {"budget": 1})
    assert changed(problem, budget_left=0.0).allowed.all()


@pytest.mark.parametrize(
    ("earned", "made", "left"), [(0.9, 0, False), (5, 5, False), (5.5, 5, False), (1, 0, True), (6, 5, True)]
)
def test_a_trial_needs_a_whole_one_of_those_that_were_earned(grid, belief, earned, made, left):
    problem = safe(grid(), belief(logs(TRIAL, BETTER)), trials_earned=earned, trials_made=made)
    assert problem.allowed.tolist() == [True, left, True]
    assert took_away(problem) == ({} if left else {"number of trials": 1})


def test_a_trial_that_gains_little_is_not_worth_trying(grid, belief):
    little, enough = (-0.05, -0.05, 0.02, 0.02), (-0.07, -0.07, 0.02, 0.02)  # half of 4.9% and of 6.8%
    problem = safe(grid(), belief(logs(little, BETTER)))
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, False, True], {"worth trying": 1})
    assert safe(grid(), belief(logs(enough, BETTER))).allowed.all()


RISKS = {
    "dearer tonight": ((-0.4, -0.1, 0.4, 0.4), (-0.4, -0.1, 0.3, 0.38)),
    "not with even odds": ((-0.6, 0.12, 0.12, 0.12), (-0.6, 0.02, 0.12, 0.12)),
    "far dearer": ((-0.6, -0.6, 0.02, 0.42), (-0.6, -0.6, 0.02, 0.4)),
}


@pytest.mark.parametrize(("risky", "bearable"), RISKS.values(), ids=RISKS)
def test_a_trial_that_risks_too_much_is_taken_away(grid, belief, risky, bearable):
    problem = safe(grid(), belief(logs(risky, BETTER)))
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, False, True], {"risk": 1})
    assert safe(grid(), belief(logs(bearable, BETTER))).allowed.all()


def test_how_likely_a_trial_may_be_far_dearer_follows_from_confidence_and_failures_are_apart(grid, belief):
    problem = safe(grid(), belief(logs(RISKS["far dearer"][0], WORSE), p_fail=(0, 0.2, 0)))
    assert problem.exploration.p_far_dearer.tolist() == pytest.approx([0, 0.8 * 0.25, 1])
    assert not problem.allowed[1]
    assert changed(problem, confidence=0.79).allowed[1]


def test_more_gpus_than_ever_come_after_trials_of_the_batch(belief):
    candidates, gains = with_gpus((32, 1), (64, 1), (32, 2)), (-0.6, -0.6, 0.02, 0.02)
    first = safe(candidates, belief(logs(TRIAL, gains)))
    assert (first.allowed.tolist(), took_away(first)) == ([True, True, False], {"more resources": 1})
    ran = belief(logs(WORSE, gains), runs=(1, 1, 0))
    assert safe(candidates, ran).allowed.tolist() == [True, False, True], "what the batch does is known"
    assert safe(candidates, belief(logs(WORSE, gains))).allowed.tolist() == [True, False, True], "no batch is worth a trial"
    assert a_problem(candidates, belief(logs(TRIAL, gains)), TIME).allowed.all(), "where nobody wants it careful"


def test_more_gpus_than_ever_must_be_expected_to_gain_a_tenth(belief):
    candidates, little = with_gpus((32, 1), (64, 1), (32, 2)), (-0.2, -0.2, 0.02, 0.02)  # 9% less on the geometric mean
    problem = safe(candidates, belief(logs(BETTER, little), runs=(1, 1, 0)))
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, True, False], {"more resources": 1})
    had_two = with_gpus((32, 1), (64, 2), (32, 2))
    assert safe(had_two, belief(logs(BETTER, little), runs=(1, 1, 0))).allowed.all(), "a run had as many"
    cpus = replace(candidates, names=("batch_size", "cpus"))
    assert safe(cpus, belief(logs(BETTER, little), runs=(1, 1, 0))).allowed.all(), "CPUs cost little"


def test_the_first_rule_that_takes_a_row_away_says_why_not(grid, belief):
    exploration = safe(grid(), belief(logs(TRIAL, RISKS["far dearer"][0])), budget_left=-1).exploration
    assert exploration.why_not(0) is None
    assert [exploration.why_not(row).code for row in (1, 2)] == ["JPO-W606", "JPO-W606"]
    assert safe(grid(), belief(logs(TRIAL, RISKS["far dearer"][0]))).exploration.why_not(2).code == "JPO-I608"


def test_an_objection_fits_a_narrow_column():
    assert all(len(rule.in_short or f"it {rule.condition}") <= 64 for rule in (*RULES, ASKED_FOR, MEASURED, WITHIN_BUDGET))


def test_what_each_rule_removed_adds_up(grid, belief):
    believed = belief(logs(TRIAL, WORSE, BETTER), runs=(1, 0, 0, 0), failures=(0,) * 4)
    dear = Veto(np.array([False, True, False, False]), "asks for too much", "JPO-I622")
    problem = safe(grid((32, 64, 128, 256), admissible=[True, True, True, False]), believed, holds=(dear,))
    assert [rule.name for rule in problem.rules] == ["limits and SLA", "JPO-I622", *(rule.name for rule in RULES)]
    removed = {rule.name: (rule.removed, rule.left) for rule in problem.rules if rule.removed}
    assert removed == {"limits and SLA": (1, 3), "JPO-I622": (1, 2), "settled": (1, 1)}


def test_within_the_budget_a_risk_is_weighed_against_what_is_left_where_nobody_asks_for_a_confidence(grid, belief):
    problem = a_problem(grid(), belief(RISKY), TIME)
    assert problem.exploration.rules == (WITHIN_BUDGET,)
    assert (problem.allowed.tolist(), took_away(problem)) == ([True, True, False], {"within the budget": 1})
    assert problem.under("on").allowed.all()
    assert a_problem(grid(), belief(RISKY), TIME, confidence=0.7).allowed.all()


@pytest.mark.parametrize("changes", [{"explore": "off"}, {"budget_left": -0.1}])
def test_where_nothing_new_may_be_tried_the_best_that_was_measured_alone_is_left(grid, belief, changes):
    problem = a_problem(grid(), belief([[0, -0.5, -2.0]], runs=(2, 2, 0)), TIME, **changes)
    assert problem.exploration.rules == (MEASURED,)
    assert (problem.allowed.tolist(), took_away(problem)) == ([False, True, False], {"measured": 2})


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


def test_off_never_runs_what_was_not_measured_though_today_may_not_stay(grid, belief):
    nothing_else = belief([[0, -0.5, -0.5]], runs=(1, 0, 0))
    problem = a_problem(grid(admissible=[False, True, True]), nothing_else, TIME, explore="off", min_confidence=0.7)
    assert problem.allowed.tolist() == [True, False, False], "which is for the user to be told"


def hold(*rows, lasting=True):
    return Veto(np.array(rows), "asks for too much", "JPO-I622", lasting)


def test_what_is_held_may_not_be_run_and_only_lasting_holds_count_where_anything_may_be_tried(grid, belief):
    for lasting, bold in ((True, [True, False, True]), (False, [True, True, True])):
        problem = a_problem(grid(), belief([[0, -0.1, -0.1]]), TIME, holds=(hold(False, True, False, lasting=lasting),))
        assert problem.allowed.tolist() == [True, False, True]
        assert problem.under("on").allowed.tolist() == bold
        assert [rule.name for rule in problem.under("on").rules] == ["limits and SLA", *["JPO-I622"] * lasting]


LIKELY_WORSE = [[0, 0.3, 0.5], [0, -0.1, -1.0], [0, 0.3, 0.5]]


@pytest.mark.parametrize("explore", ["safe", "on"])
def test_a_trial_that_was_asked_for_is_the_most_informative_of_what_is_left(grid, belief, explore):
    asked = {"exploration_runs_left": 1, "explore": explore}
    problem = safe(grid(), belief(LIKELY_WORSE), **asked)
    assert problem.exploration.rules == (ASKED_FOR,)
    assert (problem.allowed.tolist(), took_away(problem)) == ([False, False, True], {"asked for": 2})
    failing = safe(grid(), belief(LIKELY_WORSE, p_fail=(0, 0, 0.5)), **asked)
    assert failing.exploration.asked_for == 1


def test_nothing_is_asked_for_where_all_was_tried_or_exploring_is_off(grid, belief):
    all_tried = safe(grid(), belief(LIKELY_WORSE, runs=(1, 1, 1)), exploration_runs_left=1)
    assert all_tried.exploration.asked_for is None
    assert all_tried.exploration.rules == RULES
    assert safe(grid(), belief(LIKELY_WORSE), exploration_runs_left=1, explore="off").exploration.rules == (MEASURED,)


def test_where_today_may_not_stay_and_no_rule_leaves_anything_it_is_what_ended_well(grid, belief):
    elsewhere, dearer = grid(admissible=(False, True, True)), logs((0.1,) * 4, (0.05,) * 4)
    known = safe(elsewhere, belief(dearer, runs=(1, 1, 0)))
    assert tried_out(known)[-1].left == 0
    assert known.allowed.tolist() == [False, True, False]
    unknown = safe(elsewhere, belief(logs((0.1, 0.1, 0.1, 0.2), WORSE)))
    assert unknown.allowed.tolist() == [False, True, False], "nothing ended well: the row of least risk"


def test_where_what_ended_well_is_out_of_reach_it_is_the_step_that_comes_nearest_to_it(grid, belief):
    """Batch size 512 (today's) may not stay, 32 ended well and is more than one step away."""
    steps = grid((512, 32, 128, 256, 1024), admissible=(False, False, True, True, True))
    dearer = logs((0.5,) * 4, (0.6,) * 4, (0.2,) * 4, (0.1,) * 4)
    problem = safe(steps, belief(dearer, runs=(1, 1, 0, 0, 0), failures=(0,) * 5))
    assert problem.allowed.tolist() == [False, False, True, False, False]
    found = decide(problem, None, 2)
    assert (found.kind, found.confidence) == ("return", MOST), "it claims to end well, not to be cheaper"
    assert "it comes nearest to batch_size 32, which ended well" in found.reasons[0].text
    nothing_to_go_back_to = safe(steps, belief(dearer, runs=(1, 0, 0, 0, 0), failures=(0,) * 5))
    assert nothing_to_go_back_to.exploration.step_back is None


def test_values_that_ended_well_may_be_used_where_todays_only_failed(grid, belief):
    failed = belief([[0, 0.2, 0.4]] * 4, runs=(0, 1, 0), failures=(1, 0, 0), p_fail=(0.6, 0.1, 0.1))
    problem = safe(grid(), failed)
    assert problem.allowed[1]
    assert problem.exploration.kind(1) == "return"
