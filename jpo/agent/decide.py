"""Decision: one candidate, or keep. Never without a reference run, never beyond what `explore` allows; always with reasons.

    off     only what was measured and is better than today by more than the noise, or confirmed by a second run
    safe    also what, with the stated confidence, costs no more than what is left of the budget: exploring may cost two runs of
            today's configuration in 20 runs, and what earlier suggestions saved may be spent too
    on      anything admissible, while there is a budget

A released policy decides, or the one the user named, else the belief rule; the answer says who. The answer also names the step:
"try" what the decider likes best; "halve" it, if that may cost too much and a smaller step towards it may not; "known", back to
what was measured; "keep".

A smaller step is taken where the decider likes it best among what may be tried. To prefer it to a better candidate elsewhere was
measured on 300 simulated jobs and the recorded ones to cost up to 0.5% and to prevent no harm. Nothing is drawn: the same
arguments give the same answer, and what a draw tries next to the favourite was measured to cost more than it teaches.

Source of `safe`: Wu et al., "Conservative Bandits", ICML 2016 (explore only what keeps the total near that of always keeping).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.agent import reasons
from jpo.agent.candidate_rows import least, logs_of
from jpo.agent.policy_override import override_note
from jpo.agent.problem import Problem
from jpo.agent.safety.confidence import MOST, log_loss_of, p_nothing_better
from jpo.agent.safety.promise import LOWER
from jpo.agent.state import observe
from jpo.records import Decision, Note

if TYPE_CHECKING:
    from jpo.agent.policy import Policy
    from jpo.records import Bools, Floats, PolicyName


def decide(problem: Problem, policy: Policy | None, runs_finished: int) -> Decision:
    """Decision on the next configuration: an admissible row; today's while nothing is known.

    Args:
        policy: decides if it was released for this `explore` and the context, or the user named it; None = the belief rule.
        runs_finished: finished runs of this workload; without one that ended well the answer is keep.
    """
    candidates, explore = problem.candidates, problem.boldness.explore
    if problem.belief.duration_seconds is None:
        return Decision(candidates.current, None, "no evidence", (reasons.without_evidence(runs_finished),))
    decided_by: PolicyName = "belief"
    if (back := gone_back_to(problem)) is not None:
        notes = reasons.decision_reasons(problem, back, back, "known", by=decided_by)
        return Decision(back, min(1 - float(problem.belief.p_fail[back]), MOST), decided_by, notes, "known")
    if explore != "off" and in_failure(problem):
        choice = way_back(problem)
        notes, step = reasons.out_of_failure(problem, choice), step_to(problem, choice, choice)
        return Decision(choice, _confidence(problem, choice), decided_by, notes, step)
    pick = partial(by_rule, problem)
    if policy is not None and policy.decides(explore, *problem.context.scenarios):
        decided_by, pick = policy.name, partial(by_policy, problem, policy)
    choice = least_loss_among_equals(problem, problem.allowed, pick(problem.allowed))
    import os
    ex = problem.exploration
    if os.environ.get("X_PICK") and explore == "safe" and problem.boldness.min_confidence and not ex.asked:
        first = problem.allowed & ~(ex.trials & ~ex.improvements)
        choice = least_loss_among_equals(problem, first, pick(first)) if first.any() else choice
        if choice == candidates.current and (ex.trials & ~ex.improvements).any():
            gain = problem.acquisition.improvement / np.maximum(problem.acquisition.expected, 0.5) if os.environ["X_PICK"] == "ratio" else problem.acquisition.improvement
            choice = int(np.argmax(np.where(ex.trials & ~ex.improvements, gain, -1)))
    kind = kind_of(problem, choice)
    if os.environ.get("X_DEBUG"):
        import sys
        acq, imp = problem.acquisition, ex.improvements
        best = int(np.argmin(np.where(imp, acq.score, np.inf))) if imp.any() else -1
        say = lambda r: (candidates.parameters(r), f"score {acq.score[r]:.3f} exp {acq.expected[r]:.3f} mean {np.exp(acq.mean[r]):.3f} impr {acq.improvement[r]:.3f} pb {problem.comparison.p_better[r]:.2f} ps {problem.comparison.p_safe[r]:.2f} allowed {problem.allowed[r]} pf {problem.belief.p_fail[r]:.2f}")
        print("CHOICE", explore, say(choice), "BESTIMP", best >= 0 and say(best), "INC", say(acq.incumbent), decided_by, file=sys.stderr)
    notes = reasons.decision_reasons(problem, choice, choice, STEP[kind], by=decided_by)
    if policy is not None and decided_by == policy.name:
        notes = (*notes, override_note(problem, policy, problem.allowed, choice))
    elif policy is not None and policy.withdrawn:
        notes = (*notes, Note("JPO-W633", policy.withdrawn))
    return Decision(choice, _confidence(problem, choice), decided_by, notes, STEP[kind], kind)


STEP = {"kept": "keep", "return": "known", "trial": "try", "improvement": "try"}


def kind_of(problem: Problem, choice: int) -> Literal["kept", "improvement", "trial", "return"]:
    if choice == problem.candidates.current:
        return "kept"
    if problem.belief.tried[choice]:
        return "return"
    return "improvement" if problem.comparison.p_better[choice] >= max(problem.boldness.min_confidence, 0.5) else "trial"


def _confidence(problem: Problem, choice: int) -> float:
    if choice != problem.candidates.current:
        kind = kind_of(problem, choice)
        return float((problem.comparison.p_safe if kind == "trial" else problem.comparison.p_better)[choice])
    may_run = problem.open_rows & problem.belief.tried if problem.exploration.only_measured else problem.open_rows
    others, factor = may_run & (np.arange(len(may_run)) != choice), problem.comparison.calibration.interval_factor
    return p_nothing_better(problem.belief, problem.comparison.against_today, others, interval_factor=factor)


def gone_back_to(problem: Problem) -> int | None:
    """The best row that ends well, where today's values fail more often than chance would have it; None: they do not, or there is
    no such row within one step.

    Whatever `explore` says: it was run, and what today's values save when they end well is no reason to fail again.
    """
    if not (problem.comparison.leaves_today and problem.comparison.ways_back.any()):
        return None
    return least(problem.acquisition.expected, problem.comparison.ways_back)


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
    logs = logs_of(candidates)
    well = problem.comparison.known_to_end_well
    goal = least(expected, well if well.any() else belief.runs > 0)
    apart = np.abs(logs - logs[goal]).sum(axis=1)  # (K,)
    failing = belief.only_failed | problem.comparison.often_failing
    return int(np.lexsort((expected, apart, failing, ~candidates.admissible))[0])


def least_loss_among_equals(problem: Problem, allowed: Bools, choice: int) -> int:
    """The choice, or of the allowed rows that cost as much and teach as much, within half of the noise of a run, the one with the
    least loss: it is worth taking under every preference. A loss that is lower by less than LOWER is the same.
    """
    belief, expected = problem.belief, problem.acquisition.expected
    if belief.val_loss is None or problem.comparison.promise:
        return choice
    loss = belief.weights @ log_loss_of(belief, problem.candidates, problem.comparison.base)
    as_cheap = expected <= expected[choice] * (1 + belief.noise / 2)
    as_cheap &= problem.acquisition.score <= problem.acquisition.score[choice] + belief.noise / 2
    rows = allowed & as_cheap & (belief.p_fail <= belief.p_fail[choice] + LOWER) & (belief.tried | ~belief.tried[choice])
    best = least(loss, rows)
    return best if rows[best] and loss[best] < loss[choice] - LOWER else choice


def by_rule(problem: Problem, allowed: Bools) -> int:
    """The belief rule's choice among these rows."""
    return least(problem.acquisition.score, allowed)


def by_policy(problem: Problem, policy: Policy, allowed: Bools) -> int:
    """The actor's choice among the shortlisted rows: the one it likes best, as it was tested."""
    observation = observe(problem, allowed)
    return int(observation.rows[policy.pick(observation.features, observation.allowed, None)])


def step_to(problem: Problem, choice: int, favourite: int) -> Literal["keep", "known", "halve", "try"]:
    """What the choice is, seen from today's configuration and from what the decider would have liked best."""
    candidates = problem.candidates
    if choice == candidates.current:
        return "keep"
    if problem.belief.tried[choice]:
        return "known"
    starts = (candidates.current, problem.acquisition.incumbent)
    return "halve" if any(lies_between(candidates.values, start, favourite, choice) for start in starts) else "try"


def lies_between(values: Floats, start: int, goal: int, row: int) -> bool:
    """Whether a row is on the way: each parameter at its value at the start, at the goal, or between; and neither of the two."""
    low, high = np.minimum(values[start], values[goal]), np.maximum(values[start], values[goal])
    return row not in (start, goal) and bool(((low <= values[row]) & (values[row] <= high)).all())
