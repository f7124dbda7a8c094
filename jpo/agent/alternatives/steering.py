"""Steering: a continuous SAC sets, before each run, how far the belief rule looks ahead and what a trial must promise.

The rule decides with both, so that a steered decision is one of the rule's. The actor sees what all candidates share.
It is read from the features alone, as any policy is; learning/named_policies.py trains it.
"""

import numpy as np

from jpo.agent.acquisition import WORTH
from jpo.agent.policy import Policy, Shapes, Weights, rule_choice, shapes_of
from jpo.agent.state import OWN, SHARED, WITHOUT_PHASES, Features
from jpo.records import Bools, Floats

ACTIONS = 2
"""Log of the horizon and of WORTH, each against the rule's own; 0 is the rule."""
INPUTS = WITHOUT_PHASES - len(OWN)
"""What all candidates share, phases not."""
HIDDEN = (32, 32)
FURTHEST = 8.0
"""Factor at an action of 1, its inverse at -1."""
LEAST, MOST = 2.0, 100.0
"""Runs, between which the horizon is steered."""
SHAPES: Shapes = shapes_of("actor", (INPUTS, *HIDDEN, 2 * ACTIONS))
COST, GAIN, TRIED = map(OWN.index, ("log expected cost", "expected improvement", "tried"))
HORIZON = len(OWN) + SHARED.index("horizon")


def shared(features: Features) -> Features:
    """What the actor sees, phases not: (K, WIDTH) -> (S,)."""
    return features[0, len(OWN) : WITHOUT_PHASES]


def steered(policy: Policy, features: Features, allowed: Bools) -> Floats:
    """Runs that each candidate saves against the rule's choice, within the steered horizon: (K, WIDTH) -> (K,)."""
    score = steered_scores(features, action(policy.members[0], shared(features)))
    return np.asarray(score[rule_choice(features, allowed)] - score)


def action(actor: Weights, x: Features) -> Floats:
    """The mode of the actor's choice, (S,) -> (ACTIONS,), each within -1..1."""
    for i in range(len(HIDDEN) + 1):
        x = x @ actor[f"actor.w{i}"] + actor[f"actor.b{i}"][0]
        if i < len(HIDDEN):
            x = np.maximum(x, 0)
    return np.tanh(x[:ACTIONS].astype(np.float64))


def steered_scores(features: Features, steer: Floats) -> Floats:
    """The belief rule's scores with the steered horizon and worth, (K, WIDTH) -> (K,)."""
    own = features.astype(np.float64)
    horizon, untried = float(np.expm1(4 * own[0, HORIZON])), 1 - own[:, TRIED]
    ahead, worth = FURTHEST**steer * (horizon, WORTH)
    ahead = min(max(ahead, min(horizon, LEAST)), max(horizon, MOST))
    return np.asarray(np.exp(own[:, COST]) + worth * untried - ahead * own[:, GAIN] / 4)
