import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jpo.agent.alternatives.judges import on_average
from jpo.agent.budget import budget_left
from jpo.agent.context import UNKNOWN, Context
from jpo.agent.decide import BEST, decide
from jpo.agent.policy import SHAPES, Policy
from jpo.agent.safety.vetoes import Veto
from jpo.agent.state import OWN
from jpo.records import Belief, Candidates, Preference, texts_of
from tests.asked import a_problem

TIME = Preference(1, 0, 0)
HALF, DOUBLE = math.log(0.5), math.log(2)


def ask(candidates, believed, preference=TIME, *, recent=(), policy=None, runs_finished=1, **more):
    problem = a_problem(candidates, believed, preference, budget=1, budget_left=budget_left(recent, 1), **more)
    return decide(problem, policy, runs_finished)


def random_policy(released, seed=0):
    released = ("safe", "on") if released else ()
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}
    return Policy((weights,), released, {}, margin=0.0)


def test_without_a_finished_run_it_keeps_and_asks_for_one(grid, belief):
    found = ask(grid(current=1), belief([[0, -3, -3]], duration=None), runs_finished=0)
    assert (found.choice, found.confidence, found.decided_by, found.codes) == (1, None, "no evidence", ("JPO-I601",))
    assert "JPO needs one run with today's values" in found.reasons[0].text


def test_a_measured_better_candidate_is_taken_and_explained_with_numbers(grid, belief):
    found = ask(grid(), belief([[0, math.log(0.79), 0.5]], runs=(2, 3, 0)))
    assert found.choice == 1
    assert found.reasons[0].text == "batch_size 64 (all else as today) ended well 3 times"
    assert (found.decided_by, found.kind, found.confidence) == ("belief", "return", 0.99)


def test_the_best_on_average_is_not_taken_if_it_is_not_admissible(grid, belief):
    believed = belief([[0, HALF, 3 * HALF]])
    assert ask(grid(), believed).choice == 2
    assert ask(grid(admissible=[True, True, False]), believed).choice == 1
    assert ask(grid(admissible=[True, False, False]), believed).choice == 0


def test_off_uses_only_what_was_measured(grid, belief):
    believed = belief([[0, 0.2, -2.0]], runs=(1, 1, 0))
    assert ask(grid(), believed, explore="off").choice == 0
    assert ask(grid(), believed, explore="safe").choice == 2


def test_off_needs_more_than_the_noise_or_a_second_run(grid, belief):
    assert ask(grid(), belief([[0, -0.06, 0]], runs=(1, 1, 0), noise=0.05), explore="off").choice == 0
    assert ask(grid(), belief([[0, -0.08, 0]], runs=(1, 1, 0), noise=0.05), explore="off").choice == 1
    assert ask(grid(), belief([[0, -0.03, 0]], runs=(2, 2, 0), noise=0.05), explore="off").choice == 1


def test_one_lucky_run_is_run_again_and_called_unconfirmed(grid, belief):
    lucky, confirmed = (ask(grid(), belief([[0, -0.04, 1]], runs=(5, n, 1), noise=0.06)) for n in (1, 2))
    assert (lucky.choice, lucky.kind, confirmed.choice) == (1, "return", 1)
    assert "batch_size 64 has one run so far; a second run has to confirm that it beats today's configuration" in texts_of(
        lucky.reasons
    )
    assert ("JPO-I613" in lucky.codes, "JPO-I613" in confirmed.codes) == (True, False)
    assert "JPO-I613" not in ask(grid(), belief([[0, -0.5, 1]], runs=(5, 1, 1), noise=0.06)).codes


def test_today_with_one_run_is_to_be_confirmed_against_what_ran_before(grid, belief):
    found = ask(grid(current=1), belief([[0.05, 0, 1]], runs=(5, 1, 1), noise=0.06))
    assert (found.choice, found.kind) == (1, "kept")
    assert "today's configuration has one run so far; a second run has to confirm that it beats batch_size 32" in texts_of(
        found.reasons
    )


LIKELY_GOOD = [[0, -0.1, 3 * HALF], [0, -0.1, 3 * HALF], [0, -0.1, 3 * HALF], [0, -0.1, DOUBLE * 2]]
"""The favourite is batch_size 128; a quarter of the jobs take four times as long with it."""


def test_where_the_favourite_may_cost_too_much_the_best_of_what_is_left_is_taken(grid, belief):
    found = ask(grid(), belief(LIKELY_GOOD))
    assert (found.choice, found.kind, found.confidence) == (1, "improvement", 0.99)
    assert found.reasons[0].text == "batch_size 64 has not been tried"
    assert [(rule.name, rule.removed, rule.left) for rule in found.rules[1:]] == [("within the budget", 1, 2), (BEST, 1, 1)]


def test_where_nothing_else_pays_off_it_is_kept_and_said_what_the_favourite_risks(grid, belief):
    worse_between = [[0, 0.1, log] for _, _, log in LIKELY_GOOD]
    found = ask(grid(), belief(worse_between))
    assert (found.choice, found.kind, found.confidence) == (0, "kept", 0.25)
    held = "batch_size 128 looks promising, but it is too risky"
    safe = "chance that it ends well and costs no more than a tenth more: 75%"
    assert f"{held}: expected -70% for the next run; {safe}" in texts_of(found.reasons)


def test_on_tries_it(grid, belief):
    half = [[0, -0.1, 3 * HALF]] * 2 + [[0, -0.1, DOUBLE], [0, -0.1, DOUBLE * 2]]
    found = ask(grid(), belief(half), explore="on", min_confidence=0.7)
    assert (found.choice, found.kind) == (2, "trial")
    assert found.confidence == pytest.approx(0.5)
    assert "has not been tried" in found.reasons[0].text


TRIAL = [[0, -0.4, 1]] * 2 + [[0, 0.04, 1]] * 2
"""Batch size 64 is better with even odds, and hardly dearer."""


def test_what_trials_may_still_cost_is_said_with_a_trial(grid, belief):
    found = ask(grid(), belief(TRIAL), min_confidence=0.7)
    assert (found.choice, found.kind, found.confidence) == (1, "trial", 0.99)
    assert "exploration budget left: 1 run of today's configuration" in texts_of(found.reasons)
    spent = ask(grid(), belief(TRIAL), min_confidence=0.7, recent=[1.7, 0.7])
    assert "exploration budget left: 0.6 runs of today's configuration" in texts_of(spent.reasons)
    assert "JPO-I615" not in ask(grid(), belief([[0, HALF, 1]]), min_confidence=0.7).codes, "an improvement costs nothing"


def test_what_may_gain_most_is_run_a_trial_or_an_improvement(grid, belief):
    def found(better):
        answer = ask(grid(), belief([[0, better, trial] for _, trial, _ in TRIAL]), min_confidence=0.7)
        return answer.choice, answer.kind, answer.rules[-1].name

    assert found(-0.1) == (2, "trial", "the trial with the largest possible gain"), "half of 33% is more than 9.5%"
    assert found(-0.2) == (1, "improvement", BEST), "18% is more than half of 33%"


def test_a_return_goes_before_a_trial_that_may_gain_less(grid, belief):
    def found(back, **more):
        believed = belief([[0, back, trial] for _, trial, _ in TRIAL], runs=(1, 1, 0))
        return ask(grid(), believed, min_confidence=0.7, **more)

    assert (found(-0.2).choice, found(-0.2).kind) == (1, "return")
    assert (found(-0.2).codes[0], found(-0.2).confidence) == ("JPO-I603", 0.99)
    assert (found(-0.01).choice, found(-0.01).kind) == (2, "trial")
    assert found(-0.01, trials_earned=0).choice == 1


def test_of_several_trials_the_one_that_may_gain_most_is_made(grid, belief):
    riskier = [[0, -0.4, -0.5]] * 2 + [[0, 0.04, 0.09]] * 2
    assert ask(grid(), belief(riskier), min_confidence=0.7).choice == 2


def test_a_hold_on_what_is_liked_best_is_said_where_today_stays(grid, belief):
    dear = Veto(np.array([False, True, False]), "asks for more gpus than any run so far", "JPO-I622", lasting=False)
    found = ask(grid(), belief([[0, HALF, 1]]), min_confidence=0.7, holds=(dear,))
    assert (found.choice, found.kind) == (0, "kept")
    assert "batch_size 64 looks promising but asks for more gpus than any run so far" in texts_of(found.reasons)


def test_without_a_trial_left_today_stays_and_it_is_said_what_is_waited_for(grid, belief):
    found = ask(grid(), belief(TRIAL), min_confidence=0.7, trials_earned=5.5, trials_made=5)
    assert (found.choice, found.kind) == (0, "kept")
    assert "batch_size 64 looks promising, but 5 of the 5.5 trials allowed so far have been made" in texts_of(found.reasons)
    assert [(rule.code, rule.removed) for rule in found.rules if rule.removed] == [("JPO-I672", 2)]


def test_an_overspent_budget_leaves_what_was_measured_and_with_a_confidence_what_is_better(grid, belief):
    found = ask(grid(), belief(LIKELY_GOOD), recent=[1.2, 1.9])
    assert (found.choice, found.kind) == (0, "kept")
    lost = "the last suggestions cost 1.1 runs of today's configuration more than keeping it, and the budget is 1"
    assert f"{lost}, so nothing is tried for now" in texts_of(found.reasons)
    assert ask(grid(), belief([[0, HALF, 1]], runs=(1, 2, 0)), recent=[1.2, 1.9]).choice == 1
    assert ask(grid(), belief(TRIAL), recent=[1.2, 1.9], min_confidence=0.7).kind == "kept"
    assert ask(grid(), belief([[0, HALF, 1]]), recent=[1.2, 1.9], min_confidence=0.7).kind == "improvement"


def test_it_is_not_said_that_nothing_is_tried_where_something_is(grid, belief):
    on = ask(grid(), belief(TRIAL), explore="on", recent=[1.2, 1.9], min_confidence=0.7)
    asked_for = ask(grid(), belief(TRIAL), exploration_runs_left=1, recent=[1.2, 1.9], min_confidence=0.7)
    assert [(found.kind, "JPO-W606" in found.codes) for found in (on, asked_for)] == [("trial", False)] * 2


def test_what_failed_before_is_not_called_new(grid, belief):
    failed_once = belief([[0, HALF, 1]], failures=(0, 1, 0), p_fail=(0, 0.2, 0))
    found = ask(grid(), failed_once, min_confidence=0.7)
    assert (found.choice, found.kind, found.codes[0]) == (1, "improvement", "JPO-I603")
    assert found.reasons[0].text == "batch_size 64 (all else as today) failed once"


def test_what_may_be_risked_grows_with_what_is_left(grid, belief):
    costly = belief([[0, 0.1, 3 * HALF]] * 3 + [[0, 0.1, math.log(1.3)]])
    assert ask(grid(), costly).choice == 2
    assert ask(grid(), costly, recent=[1.5]).choice == 0
    assert ask(grid(), costly, recent=[1.5, 0.5]).choice == 2


def test_what_may_fail_needs_the_budget_of_a_failure(grid, belief):
    may_fail = belief([[0, 0.1, 3 * HALF]], p_fail=(0, 0, 0.2))
    assert ask(grid(), may_fail).choice == 2
    assert ask(grid(), may_fail, recent=[1.01]).choice == 0


def test_values_that_only_ever_failed_are_left_even_if_nothing_good_is_within_one_step(grid, belief):
    out_of_reach = grid(admissible=[True, True, False])
    believed = belief([[0, 0, 0]], runs=(0, 0, 2), failures=(3, 0, 0), p_fail=(0.9, 0.4, 0))
    for recent in ((), (2.0, 2.0, 2.0)):
        decision = ask(out_of_reach, believed, recent=recent, min_confidence=0.7)
        assert (decision.choice, decision.kind, decision.codes[0]) == (1, "trial", "JPO-W617")
    assert ask(out_of_reach, believed, explore="off").choice == 0


def test_after_failures_it_moves_towards_what_ended_well_regardless_of_forecasts(grid, belief):
    """1024 ended well and is out of reach; 256 is half way, although 16 and 64 look faster and as safe."""
    reach = grid((64, 16, 256, 1024), admissible=[True, True, True, False])
    believed = belief([[0, HALF, 0.5, 0]], runs=(0, 0, 0, 2), failures=(1, 0, 0, 0), p_fail=(0.9, 0.3, 0.4, 0))
    assert ask(reach, believed).choice == 2
    failed_there_too = replace(believed, failures=np.array((1, 0, 1, 0)))
    assert ask(reach, failed_there_too).choice == 1  # nothing else is left


def test_where_today_may_not_stay_and_all_else_is_risky_the_least_risk_is_taken(grid, belief):
    risky = belief([[0, 2, HALF]] * 2 + [[0, 2, 2]] * 2, runs=(0, 0, 0))
    found = ask(grid(admissible=[False, True, True]), risky)
    assert (found.choice, found.kind) == (2, "improvement")
    assert "JPO-W609" in found.codes


def test_a_belief_that_was_too_sure_is_trusted_less_and_the_report_says_so(grid, belief):
    logs = [[0, 0.1, 3 * HALF]] * 3 + [[0, 0.1, 0.3]]
    sure, unsure = (ask(grid(), belief(logs), interval_factor=interval_factor) for interval_factor in (1.0, 2.0))
    assert (sure.choice, unsure.choice) == (2, 0)
    assert ("JPO-W616" in sure.codes, "JPO-W616" in unsure.codes) == (False, True)
    told = "too few of the last runs took as long as forecast; their intervals and risks are widened by a factor of 2"
    assert told in texts_of(unsure.reasons)


def test_tolerated_losses_do_not_add_up_over_several_changes(grid, belief):
    faster = belief([[0.1, 0, -0.04]], runs=(1, 1, 0), val_loss=0.4)
    faster = replace(faster, log_loss=np.log([[1 / 1.02, 1, 1.02]]))
    assert ask(grid(current=1), faster).choice == 2
    assert ask(grid(current=1), faster, reference=0).choice == 1


def test_a_gain_that_serves_no_further_run_is_not_paid_for(grid, belief):
    later = belief([[0, 1, 3 * HALF]] * 2 + [[0, 1, DOUBLE]] * 2)
    assert ask(grid(), later, explore="on").choice == 2
    assert ask(grid(), later, explore="on", context=Context(runs_left=0)).choice == 0


def test_only_a_policy_released_for_the_context_decides(grid, belief):
    def by(policy, explore="safe", context=UNKNOWN):
        return ask(grid(), belief(LIKELY_GOOD), policy=policy, explore=explore, context=context).decided_by

    assert by(random_policy(False)) == "belief"
    assert by(replace(random_policy(True), released=("on",))) == "belief"
    assert by(random_policy(True)) == "sac"
    assert by(random_policy(True), explore="off") == "belief"
    assert by(random_policy(True), context=Context(scenarios=("drift",))) == "belief"
    assert by(replace(random_policy(True), released=("safe", "drift")), context=Context(scenarios=("drift",))) == "sac"


def test_the_policy_ranks_only_what_is_safe(grid, belief):
    chosen = {ask(grid(), belief(LIKELY_GOOD), policy=random_policy(True, seed)).choice for seed in range(40)}
    assert chosen == {0, 1}
    free = {ask(grid(), belief(LIKELY_GOOD), policy=random_policy(True, seed), explore="on").choice for seed in range(40)}
    assert 2 in free


def test_the_guard_names_the_policys_favourite_not_the_rules(grid, belief):
    found = [ask(grid(), belief(LIKELY_GOOD), policy=random_policy(True, seed)) for seed in range(40)]
    held = [one for one in found if "JPO-I608" in one.codes]
    assert 0 < len(held) < len(found)
    assert {one.kind for one in held} == {"kept"}


logs = arrays(np.float64, (5, 4), elements=st.floats(-5, 5))
counts = arrays(np.int64, 4, elements=st.integers(0, 3))
masks = arrays(np.bool_, 4)


@given(logs, counts, counts, masks, st.sampled_from(["off", "safe", "on"]), st.booleans(), st.integers(0, 3), st.floats(0, 1))
def test_the_choice_is_admissible_and_the_same_each_time(time, runs, failures, admissible, explore, sac, now, p):
    assume(admissible.any())
    candidates = Candidates(("batch_size",), np.array([[8.0], [16.0], [32.0], [64.0]]), now, admissible, np.zeros(4))
    flat = np.zeros((5, 4))
    known = (np.full(4, p), runs, failures, np.zeros(4, int), 0.1, 60.0, None, 0.3)
    believed = Belief(np.full(5, 0.2), time, time / 2, flat, flat, flat > 0, *known, knows_utilisation=False)
    policy = random_policy(True) if sac else None
    found = ask(candidates, believed, Preference(0.5, 0.5, 0), explore=explore, policy=policy)
    assert admissible[found.choice] or (explore == "off" and found.choice == now)
    assert 0 <= found.confidence <= 1
    assert found.reasons
    assert len(found.reasons) == len(found.codes)
    assert (found.kind == "kept") is (found.choice == now)
    ran = bool(found.choice != now and believed.runs[found.choice] > 0)
    steps_back = any("comes nearest to" in note.text for note in found.reasons)  # what ended well is more than one step away
    assert (found.kind == "return") is ran or (found.kind == "return" and steps_back)
    assert found == ask(candidates, believed, Preference(0.5, 0.5, 0), explore=explore, policy=policy)
    if explore == "off":
        assert found.choice == now or runs[found.choice] > 0


def test_confidence_under_off_is_about_what_was_measured_alone(grid, belief):
    believed = belief([[0, 0.2, -2.0]], runs=(2, 2, 0))
    off, safe = (ask(grid(), believed, explore=explore) for explore in ("off", "safe"))
    assert (off.choice, off.confidence) == (0, 0.99), "of the two that were run today's is the better one for sure"
    assert safe.choice == 2, "what was never run cannot speak against an answer that may not use it"


def test_a_named_policy_that_keeps_says_what_it_likes_and_not_what_is_expected(grid, belief):
    weights = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    weights["critics.w0"][:, OWN.index("is today"), 0] = 1.0
    weights["critics.w1"][:, 0, 0] = 1.0
    weights["critics.w2"][:, 0, 0] = 5.0
    likes_today = Policy((weights,), (), {}, name="reinforce", judge=on_average)
    found = ask(grid(), belief([[0, HALF, HALF]], runs=(1, 0, 0)), policy=likes_today, explore="on", runs_finished=1)
    assert (found.choice, found.decided_by) == (0, "reinforce")
    assert found.reasons[0].text == "policy reinforce prefers today's values to everything that may be tried"
    assert "policy reinforce, as [agent] asks: departs from the rule" in texts_of(found.reasons)
    assert found.codes[0] == "JPO-I602"


def test_of_what_costs_as_much_within_the_noise_the_better_loss_is_taken(grid, belief):
    for by_time, loss, choice in (((0.0, 0.01), 0.9, 2), ((0.0, 0.2), 0.9, 1), ((0.0, 0.01), 0.999, 1)):
        logs = [[0, -0.5 + by_time[0], -0.5 + by_time[1]]]
        believed = replace(belief(logs, runs=(3, 3, 3), val_loss=0.5), log_loss=np.log([[1.0, 1.0, loss]]))
        assert decide(a_problem(grid(), believed, Preference(1, 0, 0)), None, 9).choice == choice
