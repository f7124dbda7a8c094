"""Judges: how many runs a candidate surely saves against the belief rule, as other systems than SAC would have it.

Each reads what the networks see, so that an alternative is practised, tested and served like SAC; its choice is the largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.policy import HEADS, rule_choice, surely_saved
from jpo.agent.sac.mc_dropout import answers
from jpo.agent.state import OWN, SHARED
from jpo.records import NAMED_PREFERENCES

if TYPE_CHECKING:
    from jpo.agent.policy import Policy
    from jpo.agent.state import Features
    from jpo.records import Bools, Floats

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
