"""Judges: how many runs a candidate surely saves against the belief rule, as other systems than SAC would have it.

Each reads what the networks see, so that an alternative is practised, tested and served like SAC; its choice is the largest.
"""

import numpy as np

from jpo.agent.policy import HEADS, LAYERS, Policy, Weights, driven, rule_choice, surely_saved
from jpo.agent.state import OWN, SHARED, Features
from jpo.records import NAMED_PREFERENCES, Bools, Floats

OBJECTIVES = ("time", "cost", "balanced")
"""Preferences of the members of a policy per objective, in their order."""
TIME, COST, SLACK, SLACK_KNOWN = (
    len(OWN) + SHARED.index(name) for name in ("weight of time", "weight of cost", "sla_slack", "sla_slack known")
)


def on_average(policy: Policy, features: Features, allowed: Bools) -> Floats:
    """REINFORCE knows no doubt: the mean of its outputs, the logits of what it would draw."""
    return np.asarray(policy.savings(features, allowed).mean(axis=0))


def by_dropout(policy: Policy, features: Features, allowed: Bools) -> Floats:
    """As SAC, but doubt is the scatter over passes with dropout instead of the ensemble's spread."""
    values = answers(policy, features, np.random.default_rng(0))  # (passes, K); the same passes at every decision
    savings = values - values[:, [rule_choice(features, allowed)]]
    return np.asarray(savings.mean(axis=0) - savings.std(axis=0) - policy.margin)


def per_objective(policy: Policy, features: Features, allowed: Bools) -> Floats:
    """The member that practised under the preference nearest to the user's decides, alone."""
    time, cost = features[0, TIME], features[0, COST]
    known = [NAMED_PREFERENCES[name] for name in OBJECTIVES]
    member = int(np.argmin([abs(time - one.time) + abs(cost - one.cost) for one in known]))
    savings = policy.savings(features, allowed)[HEADS * member : HEADS * (member + 1)]
    return np.asarray(savings.mean(axis=0) - savings.std(axis=0) - policy.margin)


def by_sla(policy: Policy, features: Features, allowed: Bools) -> Floats:
    """SAC, and the belief rule while the last run broke an SLA target: then nothing saves anything."""
    if features[0, SLACK_KNOWN] and features[0, SLACK] < 0:
        return np.full(len(features), -np.inf)
    return surely_saved(policy, features, allowed)


def answers(policy: Policy, features: Features, rng: np.random.Generator, *, rate: float = 0.1, passes: int = 30) -> Floats:
    """What the critics expect in each pass with dropout, the mean over the members: (K, WIDTH) -> (passes, K).

    Where the answers scatter, the critics know little. They learn without dropout, and intervals made in this way were measured
    to cover far less than they say, so only who asks for it gets it. `rng`: draws which hidden units are left out, one draw per
    pass for all candidates; `rate`: share of hidden units left out, 0 <= rate < 1.

    Source: Gal and Ghahramani, "Dropout as a Bayesian Approximation", ICML 2016.
    """
    said = np.array([[_expected(member, features, rng, rate) for member in policy.members] for _ in range(passes)])
    return np.asarray(said.mean(axis=1))


def _expected(weights: Weights, features: Features, rng: np.random.Generator, rate: float) -> Floats:
    """What one member's twins expect on average in one pass, (K,); units that stay are scaled to keep the mean of their sum."""
    x = np.asarray(features, np.float64)[None]
    for i, (_, width) in enumerate(LAYERS):
        x = driven(x, weights, i)  # (2, K, width)
        if i < len(LAYERS) - 1:
            x = np.maximum(x, 0) * (rng.random((2, 1, width)) >= rate) / (1 - rate)
    return np.asarray(x[..., 0].mean(axis=0))
