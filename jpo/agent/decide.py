"""The answer: one candidate, or keep. Never without a reference run, never beyond what `explore` allows, never in silence.

    off     only what was measured and is better than today by more than the noise, or confirmed by a second run
    safe    also what, with the stated confidence, costs no more than what is left of the budget: exploring may cost one run of
            today's configuration in 20 runs, and what earlier suggestions saved may be spent too
    on      anything admissible, while there is a budget

A released policy decides, else the belief rule; the answer says who. The guard's word is a step: "try" what the decider likes
best; "halve" it, if that may cost too much and a smaller step towards it may not; "known", back to what was measured; "keep".

A smaller step is taken where the decider likes it best among what may be tried. To prefer it to a better candidate elsewhere was
measured on 300 simulated jobs and the recorded ones to cost up to 0.5% and to prevent no harm. Nothing is drawn: the same
arguments give the same answer, and what a draw tries beside the favourite was measured to cost more than it teaches.

Source of `safe`: Wu et al., "Conservative Bandits", ICML 2016 (explore only what keeps the total near that of always keeping).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.agent import reasons
from jpo.agent.acquisition import AcquisitionValues, acquisition_values, clearly_better, p_beyond
from jpo.agent.context import UNKNOWN, Context, within_horizon
from jpo.agent.state import observe
from jpo.records import Decision

if TYPE_CHECKING:
    from jpo.agent.policy import Policy
    from jpo.records import Belief, Bools, Candidates, Floats, Preference

    Explore = Literal["off", "safe", "on"]

_NONE = 1e-9
"""Where a parameter is 0, as GPUs may be: far from any other value."""
BUDGET_RUNS = 20
BUDGET = 1.0
"""Over the last 20 runs exploring may cost one reference run in total (5%) more than always keeping; then only what is known."""


def decide(
    candidates: Candidates,
    belief: Belief,
    preference: Preference,
    *,
    explore: Explore,
    confidence: float,
    policy: Policy | None,
    runs_finished: int,
    recent: Sequence[float] = (),
    interval_factor: float = 1.0,
    context: Context = UNKNOWN,
    found: int | None = None,
    promise: AcquisitionValues | None = None,
) -> Decision:
    """Choose the next configuration.

    Args:
        explore: see the module.
        confidence: probability, in 0..1, with which a tried candidate must not cost more than what is left of the budget.
        policy: decides if it was released for this `explore` and the situation; None = the belief rule.
        runs_finished: finished runs of this workload; without one that ended well the answer is keep.
        recent: cost of the last runs that followed a suggestion, in multiples of what keeping would have cost, oldest first;
            beyond the budget the answer only uses what was measured.
        widen: the calibration watch's factor, at least 1: by how much the belief was too sure of itself.
        situation: what else is known of the runs to come.
        found: row of the values that were there before the agent's first change; None = today's.
        promise: the prospects of these arguments, where they are known already.

    Returns:
        An admissible row; today's while nothing is known.
    """
    if belief.duration_seconds is None:
        return Decision(candidates.current, None, "no evidence", *reasons.without_evidence(runs_finished))
    promise = promise or acquisition_values(belief, candidates, preference, interval_factor=interval_factor, found=found)
    promise = within_horizon(promise, context.runs_left)
    left = budget_left(recent)
    allowed = may_try(
        promise,
        belief,
        candidates,
        preference,
        explore=explore,
        confidence=confidence,
        left=max(left, 0.0),
        interval_factor=interval_factor,
        found=found,
    )
    decided_by: Literal["sac", "belief"] = "belief"
    if explore != "off" and in_failure(promise, belief, candidates):
        choice = way_back(promise, belief, candidates)
        told = reasons.out_of_failure(choice, candidates, belief, interval_factor)
        confidence = 1 - float(promise.p_worse_today[choice])
        return Decision(choice, confidence, decided_by, *told, step_to(choice, choice, belief, candidates, promise))
    if explore == "off" or left < 0:
        choice = favourite = known_best(promise, belief, candidates)
    elif policy is not None and {explore, *context.scenarios} <= set(policy.released):
        decided_by = "sac"
        favourite, choice = (
            by_policy(policy, belief, candidates, preference, promise, rows, context) for rows in (candidates.admissible, allowed)
        )
    else:
        favourite, choice = by_rule(promise, candidates.admissible), by_rule(promise, allowed)
    step = step_to(choice, favourite, belief, candidates, promise)
    told = reasons.tell(
        choice,
        favourite,
        step,
        candidates,
        belief,
        promise,
        explore=explore,
        left=left,
        interval_factor=interval_factor,
        by=decided_by,
    )
    return Decision(choice, 1 - float(promise.p_worse_today[choice]), decided_by, *told, step)


def budget_left(recent: Sequence[float]) -> float:
    """How many runs of today's configuration exploring may still cost, given the costs of the last runs in multiples of it."""
    return BUDGET - sum(ratio - 1 for ratio in recent[-BUDGET_RUNS:])


def may_try(
    promise: AcquisitionValues,
    belief: Belief,
    candidates: Candidates,
    preference: Preference,
    *,
    explore: Explore,
    confidence: float,
    left: float,
    interval_factor: float = 1.0,
    found: int | None = None,
) -> Bools:
    """Rows that may be run next under `explore` "safe" or "on", shape (K,): admissible ones, today's and the incumbent always.

    Where none of these is left, since today's values break the SLA, something must be run: the one of least risk.
    """
    rows = candidates.admissible
    if explore == "on":
        return rows
    risk = p_beyond(belief, candidates, preference, left, interval_factor=interval_factor, found=found)
    safe = risk <= 1 - confidence
    safe[[candidates.current, promise.incumbent]] = True
    allowed: Bools = rows & safe
    return allowed if allowed.any() else rows & (risk <= risk.min(where=rows, initial=1.0))


def known_best(promise: AcquisitionValues, belief: Belief, candidates: Candidates) -> int:
    """The incumbent if it is better than today, or today is not admissible.

    Better means: in expectation, and either confirmed by a second run or by more than the noise of the two means, or than values
    that have only ever failed.
    """
    now, best = candidates.current, promise.incumbent
    broken = belief.failures[now] > 0 and belief.runs[now] == 0
    sure = broken or belief.runs[best] > 1 or clearly_better(belief, promise.mean, best, now)
    better = sure and promise.expected[best] < promise.expected[now]
    return best if better or not candidates.admissible[now] else now


def in_failure(promise: AcquisitionValues, belief: Belief, candidates: Candidates) -> bool:
    """Whether today's values have only ever failed and nothing that ended well is admissible, as when it lies beyond one step.

    The budget has no say then: it keeps what was found from being risked, and keeping would fail every night.
    """
    now = candidates.current
    return bool(belief.failures[now] > 0 and belief.runs[now] == 0 and promise.incumbent == now)


def way_back(promise: AcquisitionValues, belief: Belief, candidates: Candidates) -> int:
    """The admissible row nearest to the best that ended well, by the ratios of its values; of equally near ones the best.

    What only ever failed comes last, so that each night something else is tried. To take what is expected to cost least instead
    went on failing for 4 to 7 nights: of host memory, the simulated jobs know nothing.
    """
    logs = np.log(np.maximum(candidates.values, _NONE))
    goal = int(np.argmin(np.where(belief.runs > 0, promise.expected, np.inf)))
    apart = np.abs(logs - logs[goal]).sum(axis=1)  # (K,)
    only_failed = (belief.failures > 0) & (belief.runs == 0)
    return int(np.lexsort((promise.expected, apart, only_failed, ~candidates.admissible))[0])


def by_rule(promise: AcquisitionValues, allowed: Bools) -> int:
    """The belief rule's choice."""
    return int(np.argmin(np.where(allowed, promise.score, np.inf)))


def by_policy(
    policy: Policy,
    belief: Belief,
    candidates: Candidates,
    preference: Preference,
    promise: AcquisitionValues,
    allowed: Bools,
    context: Context = UNKNOWN,
) -> int:
    """The actor's choice among the shortlisted rows: the one it likes best, as it was tested."""
    seen = observe(belief, candidates, preference, promise, allowed, context=context)
    return int(seen.rows[policy.pick(seen.features, seen.allowed, None)])


def step_to(
    choice: int, favourite: int, belief: Belief, candidates: Candidates, promise: AcquisitionValues
) -> Literal["keep", "known", "halve", "try"]:
    """What the choice is, seen from today's configuration and from what the decider would have liked best."""
    if choice == candidates.current:
        return "keep"
    if belief.tried[choice]:
        return "known"
    starts = (candidates.current, promise.incumbent)
    return "halve" if any(lies_between(candidates.values, start, favourite, choice) for start in starts) else "try"


def lies_between(values: Floats, start: int, goal: int, row: int) -> bool:
    """Whether a row is on the way: each parameter at its value at the start, at the goal, or between; and neither of the two."""
    low, high = np.minimum(values[start], values[goal]), np.maximum(values[start], values[goal])
    return row not in (start, goal) and bool(((low <= values[row]) & (values[row] <= high)).all())
