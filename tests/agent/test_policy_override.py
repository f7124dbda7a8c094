"""What SAC says of itself: as the rule, or by how much and why it departs from it."""

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.context import Context, EarlierJobs
from jpo.agent.decide import by_rule, decide
from jpo.agent.policy import SHAPES, Policy
from jpo.agent.policy_override import departure, override_note
from jpo.agent.state import OWN
from jpo.records import Candidates, Interval, Preference
from tests.asked import a_problem, changed

HALF = np.log(0.5)
TIME = Preference(1, 0, 0)
ONLY_TODAY = np.array([True, False, False])


def preferring(feature, runs):
    """A policy that expects `runs` more of a candidate for each unit of a feature."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    weights["critics.w0"][:, OWN.index(feature), 0] = weights["critics.w1"][:, 0, 0] = 1.0
    weights["critics.b0"][:, 0, 0] = 10.0
    weights["critics.w2"][:, 0, 0] = runs
    return Policy((weights,), ("safe", "on"), {})


LARGER = preferring("log2 batch size against incumbent", 1.0)
SMALLER = preferring("log2 batch size against incumbent", -1.0)


@pytest.fixture
def problem(grid, belief):
    """64 and 128 untried, both expected to take half; 64 is the rule's choice, being the first of equals."""
    return a_problem(grid(), belief([[0, HALF, HALF]]), TIME, explore="on")


def told(problem, policy, choice):
    rule = by_rule(problem, problem.allowed)
    note = override_note(problem, policy, departure(problem, policy, rule, choice), rule, choice)
    return [(note.text, note.code)]


def informed(problem, *, mean=(0.0, 0.0, 0.0), p_fails=(0.0, 0.0, 0.0), jobs=14):
    here = replace(problem.acquisition, mean=problem.acquisition.mean + np.array(mean))
    return replace(problem, context=Context(earlier=EarlierJobs(here, np.array(p_fails), jobs)))


def test_the_rules_choice_is_as_the_rule(problem):
    assert told(problem, LARGER, 1) == [("SAC: as the rule", "JPO-I630")]
    assert departure(problem, LARGER, 1, 1) == Interval(0, 0, 0)


def test_a_departure_says_what_is_expected_of_it(problem):
    """One doubling of the batch more is half a unit of its feature."""
    assert departure(problem, LARGER, 1, 2).mean == pytest.approx(0.5)
    sentence = "SAC departs from the rule: expected to save 0.50 runs, by what it learnt on simulated jobs"
    assert told(problem, LARGER, 2) == [(sentence, "JPO-I631")]


def test_failures_of_other_jobs_are_the_reason_where_they_are_expected_more_often(problem):
    ((sentence, code),) = told(informed(problem, p_fails=(0, 0.6, 0.1)), LARGER, 2)
    assert code == "JPO-I631"
    assert sentence.endswith(
        "because, after what 14 other jobs here showed, its choice of larger batches fails with a chance of 60%, not 0%"
    )


def test_jobs_that_were_slower_or_faster_here_are_the_reason_where_nothing_failed(problem):
    ((slower, _),) = told(informed(problem, mean=(0, np.log(1.5), 0), jobs=1), LARGER, 2)
    assert slower.endswith(
        "because, after what 1 other job here showed, its choice of larger batches does 50% worse than on simulated jobs"
    )
    ((faster, _),) = told(informed(problem, mean=(0, 0, np.log(0.8))), LARGER, 2)
    assert faster.endswith("larger batches do 20% better than on simulated jobs")


def test_too_little_a_difference_is_no_reason(problem):
    ((sentence, _),) = told(informed(problem, mean=(0, 0.04, 0), p_fails=(0, 0.04, 0)), LARGER, 2)
    assert sentence.endswith("by what it learnt on simulated jobs")


def test_every_parameter_that_moves_is_named(belief):
    rows = np.array([[32.0, 1, 0.1, 3], [64, 2, 0.05, 3], [16, 2, 0.1, 9]])
    candidates = Candidates(("batch_size", "gpus", "learning_rate", "warmup"), rows, 0, np.ones(3, bool), np.zeros(3))
    problem = informed(a_problem(candidates, belief([[0, HALF, 2 * HALF]]), TIME, explore="on"), p_fails=(0, 0.5, 0.9))
    assert "smaller batches, more GPUs and higher warmup fails with" in told(problem, LARGER, 1)[0][0]
    worse = informed(a_problem(candidates, belief([[0, 2 * HALF, HALF]]), TIME, explore="on"), p_fails=(0, 0.5, 0.2))
    assert "larger batches, more GPUs and lower learning rates fails with" in told(worse, SMALLER, 2)[0][0]


def test_each_decision_of_policy_says_one_of_the_two_and_the_rule_neither(problem):
    by_sac, larger, by_rule = (decide(problem, policy, 1) for policy in (SMALLER, LARGER, None))
    assert (by_sac.choice, by_sac.codes[-1]) == (0, "JPO-I631")
    assert (larger.choice, larger.codes[-1]) == (2, "JPO-I631")
    assert not {"JPO-I630", "JPO-I631"} & set(by_rule.codes)
    assert "JPO-I630" in decide(problem, preferring("log2 batch size against incumbent", 0.0), 1).codes


def test_who_has_no_say_does_not_decide_and_what_is_expected_of_a_departure_is_in_runs(problem):
    """Nothing but today's values may be run: whatever SAC likes, it is not its decision."""
    alone = changed(problem, admissible=ONLY_TODAY)
    assert (decide(alone, LARGER, 1).decided_by, decide(alone, LARGER, 1).runs_saved) == ("belief", None)
    larger = decide(problem, LARGER, 1)
    assert larger.decided_by == "sac"
    assert larger.runs_saved.mean == pytest.approx(0.5)
    assert decide(problem, preferring("log2 batch size against incumbent", 0.0), 1).runs_saved == Interval(0, 0, 0)


def test_a_trial_that_the_rule_chose_is_not_the_decision_of_a_policy(grid, belief):
    """Trials are held against today's values by what they may gain; between these alone SAC has nothing to choose."""
    unsure = belief([[0, 2 * HALF, 2 * HALF], [0, 0.05, 0.05]])
    decision = decide(a_problem(grid(), unsure, TIME, explore="safe", min_confidence=0.9), LARGER, 1)
    assert (decision.choice, decision.kind, decision.decided_by) == (1, "trial", "belief")
    assert not {"JPO-I630", "JPO-I631"} & set(decision.codes)
