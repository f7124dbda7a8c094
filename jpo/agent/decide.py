"""The answer: one candidate, or keep. Never without a reference run, never beyond what `explore` allows, never in silence.

    off     only what was measured and is better than today by more than the noise
    safe    also what is hardly worse than the incumbent with the stated confidence, or is best on the belief's mean
    on      anything admissible

Among what may be tried, a released policy decides, else the belief rule; the answer says who. Nothing is drawn: the same
arguments give the same answer, and what a draw tries beside the actor's favourite was measured to cost more than it teaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.agent import reasons
from jpo.agent.prospects import Prospects, prospects
from jpo.agent.state import observe
from jpo.records import Decision

if TYPE_CHECKING:
    from jpo.agent.policy import Policy
    from jpo.records import Belief, Bools, Candidates, Preference

    Explore = Literal["off", "safe", "on"]

BUDGET_RUNS = 20
BUDGET = 1.0
"""Over the last 20 runs exploring may cost one reference run in total (5 %) more than always keeping; then only what is known."""


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
) -> Decision:
    """Choose the next configuration.

    Args:
        explore: see the module.
        confidence: probability, in 0..1, with which a tried candidate must not be worse than the incumbent by more than a tenth.
        policy: decides if it was released for this `explore`; None = the belief rule.
        runs_finished: finished runs of this workload; without one that ended well the answer is keep.
        recent: cost of the last runs that followed a suggestion, in multiples of what keeping would have cost, oldest first;
            beyond the budget the answer only uses what was measured.

    Returns:
        An admissible row; today's while nothing is known.
    """
    if belief.duration_seconds is None:
        return Decision(candidates.current, None, "no evidence", *reasons.without_evidence(runs_finished))
    promise = prospects(belief, candidates, preference)
    spent = sum(ratio - 1 for ratio in recent[-BUDGET_RUNS:]) > BUDGET
    decided_by: Literal["sac", "belief"] = "belief"
    if explore == "off" or spent:
        choice = known_best(promise, belief, candidates)
    elif policy is None or explore not in policy.released:
        choice = by_rule(promise, may_try(promise, candidates, explore, confidence))
    else:
        decided_by = "sac"
        allowed = may_try(promise, candidates, explore, confidence)
        choice = by_policy(policy, belief, candidates, preference, promise, allowed)
    told = reasons.tell(choice, candidates, belief, promise, explore=explore, confidence=confidence, spent=spent, by=decided_by)
    return Decision(choice, 1 - float(promise.p_worse_today[choice]), decided_by, *told)


def may_try(promise: Prospects, candidates: Candidates, explore: Explore, confidence: float) -> Bools:
    """Rows that may be run next under `explore` "safe" or "on", shape (K,): admissible ones, today's and the incumbent always."""
    rows = candidates.admissible
    if explore == "on":
        return rows
    best_on_average = int(np.argmin(np.where(rows, promise.expected, np.inf)))
    safe = promise.p_worse <= 1 - confidence
    safe[[candidates.current, promise.incumbent, best_on_average]] = True
    allowed: Bools = rows & safe
    return allowed


def known_best(promise: Prospects, belief: Belief, candidates: Candidates) -> int:
    """The incumbent if it is better than today by more than the noise of the two means, or today is not admissible."""
    now, best = candidates.current, promise.incumbent
    ended_well = np.maximum(belief.runs, 1)
    noise = belief.noise * np.sqrt(1 / ended_well[now] + 1 / ended_well[best])
    better = promise.expected[best] < promise.expected[now] and promise.mean[best] - promise.mean[now] < -noise
    return best if better or not candidates.admissible[now] else now


def by_rule(promise: Prospects, allowed: Bools) -> int:
    """The belief rule's choice."""
    return int(np.argmin(np.where(allowed, promise.score, np.inf)))


def by_policy(
    policy: Policy,
    belief: Belief,
    candidates: Candidates,
    preference: Preference,
    promise: Prospects,
    allowed: Bools,
    rng: np.random.Generator | None = None,
) -> int:
    """The actor's choice among the shortlisted rows: the one it likes best, as it was tested; drawn only to practise (`rng`)."""
    seen = observe(belief, candidates, preference, promise, allowed)
    return int(seen.rows[policy.pick(seen.features, seen.allowed, rng)])
