"""Decision: one candidate, or keep. Never without a reference run, never beyond what the rules allow; always with reasons.

    off     only what was measured and is better than today by more than the noise, or confirmed by a second run
    safe    also improvements, returns and trials, as the table of rules says (safety/exploration.py)
    on      anything admissible, as a pipeline's nights the trial that is asked for

A released policy decides, or the one the user named, else the belief rule; the answer says who. What is likely to be better
and the trial with the largest possible gain are compared by that gain. Nothing is drawn: the same arguments give the same
answer, and what a draw tries next to the favourite was measured to cost more than it teaches.

Source of `safe`: Wu et al., "Conservative Bandits", ICML 2016 (explore only what keeps the total near that of always keeping).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from jpo.agent import reasons
from jpo.agent.candidate_rows import least, nearest
from jpo.agent.policy import Policy
from jpo.agent.policy_override import departure, override_note
from jpo.agent.preference import NEARLY_NOTHING
from jpo.agent.problem import Problem
from jpo.agent.safety.confidence import MOST, log_loss_of, p_nothing_better
from jpo.agent.search.search_values import SearchValues, search_note
from jpo.agent.state import observe
from jpo.records import Bools, Decision, Note, PolicyName, RuleApplied

Pick = Callable[[Bools], int]
BEST = "the best that is likely to be better"
"""Rule that chooses, where no trial may gain more."""


def decide(problem: Problem, policy: Policy | None, runs_finished: int) -> Decision:
    """Decision on the next configuration: an admissible row; today's while nothing is known.

    `policy`: decides if it was released for this `explore` and the context, or the user named it; None = the belief rule. Without
    a run that ended well the answer is keep.
    """
    candidates, explore = problem.candidates, problem.boldness.explore
    if problem.belief.duration_seconds is None:
        return Decision(candidates.current, None, "no evidence", (reasons.without_evidence(runs_finished),))
    if problem.search is not None:
        return in_search(problem, problem.search)
    if problem.comparison.leaves_today and problem.comparison.ways_back.any():
        # whatever `explore` says: it was run, and what today's values save when they end well is no reason to fail again
        back = least(problem.acquisition.expected, problem.comparison.ways_back)
        notes = reasons.decision_reasons(problem, back, back, by="belief")
        return Decision(back, min(1 - float(problem.belief.p_fail[back]), MOST), "belief", notes, "return")
    if explore != "off" and in_failure(problem):
        choice = way_back(problem)
        kind = problem.exploration.kind(choice)
        return Decision(choice, _confidence(problem, choice), "belief", reasons.out_of_failure(problem, choice), kind)
    decided_by: PolicyName = "belief"
    pick: Pick = partial(by_rule, problem)
    as_rule = choice, rule = chosen(problem, pick)
    saved = None
    if policy is not None and not problem.counts_runs and policy.decides(explore, *problem.context.scenarios):
        pick = partial(by_policy, problem, policy)
        choice, rule = chosen(problem, pick)
        if choice != as_rule[0] or (rule == BEST and weighed(problem).sum() > 1):  # elsewhere it has no say
            decided_by, saved = policy.name, departure(problem, policy, as_rule[0], choice)
    favourite = choice
    if explore != "off" and choice == candidates.current and candidates.admissible.any():
        favourite = least_loss_among_equals(problem, candidates.admissible, pick(candidates.admissible))
    notes = reasons.decision_reasons(problem, choice, favourite, by=decided_by)
    if policy is not None and decided_by == policy.name:
        notes = (*notes, override_note(problem, policy, saved, as_rule[0], choice))
    elif policy is not None and policy.withdrawn:
        notes = (*notes, Note("JPO-W633", policy.withdrawn))
    rule = "today's values stay" if choice == candidates.current else rule
    rules = (*problem.rules, RuleApplied(rule, notes[0].code, int(problem.allowed.sum()) - 1, 1))
    kind = problem.exploration.kind(choice)
    return Decision(choice, _confidence(problem, choice), decided_by, notes, kind, rules, saved)


def weighed(problem: Problem) -> Bools:
    """Rows between which the decider chooses, shape (K,): without trials where these are held against its choice."""
    trials, boldness = problem.allowed & problem.exploration.trials, problem.boldness
    apart = boldness.explore == "safe" and boldness.min_confidence > 0 and not trials[problem.allowed].all()
    return problem.allowed & ~trials if apart else problem.allowed


def in_search(problem: Problem, values: SearchValues) -> Decision:
    """Decision of a search: nothing twice while anything else may be run, and the best in the end, or where nothing new may be
    tried. Neither SAC nor a rule about trials has a say, since both weigh what runs cost."""
    may_run, now = problem.open_rows, problem.candidates.current
    new = may_run & ~problem.belief.tried
    rows, rule = new if new.any() else may_run, "the run that is expected to improve the best most"
    choice = least(-values.promise, rows) if rows.any() else now
    if best := values.over or problem.boldness.explore == "off":
        first = problem.comparison.base
        unknown = first if problem.candidates.admissible[first] and problem.belief.runs[first] else now
        choice, rule = unknown if values.best is None else values.best, "the best that was found"
    notes = (search_note(values, problem.comparison.preference, best=best), *reasons.search_reasons(problem, choice))
    rules = (*problem.rules, RuleApplied(rule, notes[0].code, int(problem.allowed.sum()) - 1, 1))
    return Decision(choice, _confidence(problem, choice), "belief", notes, problem.exploration.kind(choice), rules)


def chosen(problem: Problem, pick: Pick) -> tuple[int, str]:
    """The row that is run next, and the rule that chose it: what the decider likes best of today's values, improvements and
    returns, or the trial with the largest possible gain, whichever may gain more."""
    rows, acquisition, now = weighed(problem), problem.acquisition, problem.candidates.current
    likely, trials = least_loss_among_equals(problem, rows, pick(rows)), problem.allowed & ~rows
    if not trials.any():
        return likely, BEST
    promise = problem.comparison.promise
    gain = acquisition.improvement if promise is None else np.where(promise.lowering, promise.gain, 0.0)
    saved = max(1 - acquisition.expected[likely] / acquisition.expected[now], gain[likely])
    trial = least_loss_among_equals(problem, trials, least(-gain, trials))
    return (likely, BEST) if likely != now and saved >= gain[trial] else (trial, "the trial with the largest possible gain")


def _confidence(problem: Problem, choice: int) -> float:
    """Chance of what the answer claims."""
    comparison, kind = problem.comparison, problem.exploration.kind(choice)
    if choice == problem.exploration.step_back:
        return min(float(problem.exploration.p_ends_kept[choice]), MOST)
    if kind != "kept":
        return float((comparison.p_safe if kind == "trial" else comparison.p_better)[choice])
    may_run = problem.open_rows & problem.belief.tried if problem.boldness.explore == "off" else problem.open_rows
    others, factor = may_run & (np.arange(len(may_run)) != choice), comparison.calibration.interval_factor
    return p_nothing_better(problem.belief, comparison.against_today, others, interval_factor=factor)


def in_failure(problem: Problem) -> bool:
    """Whether today's values have only ever failed, or fail too often, and nothing that ended well is admissible, as when it lies
    beyond one step.

    The budget has no say then: it keeps the reference from being risked, and keeping would fail every night.
    """
    now, belief = problem.candidates.current, problem.belief
    if problem.comparison.leaves_today and problem.comparison.known_to_end_well.any():
        return True
    return bool(belief.only_failed[now] and problem.acquisition.incumbent == now)


def way_back(problem: Problem) -> int:
    """The admissible row nearest to the best that ended well, by the ratios of its values; of equally near ones the best.

    What only ever failed, or too often, comes last, so that each night something else is tried. To take what is expected to cost
    least instead went on failing for 4 to 7 nights: of host memory, the simulated jobs know nothing.
    """
    candidates, belief, expected = problem.candidates, problem.belief, problem.acquisition.expected
    well = problem.comparison.known_to_end_well
    goal = least(expected, well if well.any() else belief.runs > 0)
    ends_well = candidates.admissible & ~(belief.only_failed | problem.comparison.often_failing)
    return nearest(candidates, goal, ends_well if ends_well.any() else candidates.admissible, expected)


def least_loss_among_equals(problem: Problem, allowed: Bools, choice: int) -> int:
    """The choice, or of the allowed rows that cost as much and teach as much, within half of the noise of a run, the one with the
    least loss: it is worth taking under every preference. A loss that is lower by less than NEARLY_NOTHING is the same."""
    belief, expected = problem.belief, problem.acquisition.expected
    if belief.val_loss is None or problem.comparison.promise:
        return choice
    loss = belief.weights @ log_loss_of(belief, problem.candidates, problem.comparison.base)
    as_cheap = expected <= expected[choice] * (1 + belief.noise / 2)
    as_cheap &= problem.acquisition.score <= problem.acquisition.score[choice] + belief.noise / 2
    rows = allowed & as_cheap & (belief.p_fail <= belief.p_fail[choice] + NEARLY_NOTHING) & (belief.tried | ~belief.tried[choice])
    best = least(loss, rows)
    return best if rows[best] and loss[best] < loss[choice] - NEARLY_NOTHING else choice


def by_rule(problem: Problem, allowed: Bools) -> int:
    return least(problem.acquisition.score, allowed)


def by_policy(problem: Problem, policy: Policy, allowed: Bools) -> int:
    """The actor's choice among the shortlisted rows: the one it likes best, as it was tested."""
    observation = observe(problem, allowed)
    return int(observation.rows[policy.pick(observation.features, observation.allowed, None)])
