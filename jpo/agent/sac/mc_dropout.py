"""Uncertainty of the critics, judged by dropout while they answer: for comparison with the spread of the ensemble.

Hidden units are left out at random in many passes; where the answers scatter, the critics know little. The shipped critics learn
without dropout, and intervals made in this way were measured to cover far less than they say, so only who asks for it gets it.

Source: Gal and Ghahramani, "Dropout as a Bayesian Approximation", ICML 2016.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.policy import LAYERS, driven

if TYPE_CHECKING:
    from jpo.agent.policy import Policy, Weights
    from jpo.agent.state import Features
    from jpo.records import Floats

RATE = 0.1
PASSES = 30


def answers(policy: Policy, features: Features, rng: np.random.Generator, *, rate: float = RATE, passes: int = PASSES) -> Floats:
    """What the critics expect in each pass with dropout, the mean over the members: (K, WIDTH) -> (passes, K).

    Args:
        rng: draws which hidden units are left out, one draw per pass for all candidates.
        rate: share of hidden units left out, 0 <= rate < 1.
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
