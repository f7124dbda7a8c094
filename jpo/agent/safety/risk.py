"""Risk: the chance that a run does harm, which is to fail or to be worse than a base by more than is tolerated."""

import math

import numpy as np

from jpo.agent.preference import FAILURE_CHARGE
from jpo.records import Belief, Floats

WORSE = math.log(1.1)
"""More than a tenth worse is harm; less is within what users accept for learning something."""
FAR_DEARER = math.log(1.5)
"""Half as much again is far dearer: seldom risked, and no lower loss is worth more. Of 117 trials 2 came so
(docs/decisions/0108)."""
INFLATION = 1.2
"""The belief's spread is widened by this factor when harm is judged: its forecasts were measured to be slightly optimistic."""


def chance_of_harm(
    belief: Belief, log_ratio: Floats, base: int, allowance: float | None = None, *, interval_factor: float = 1.0
) -> Floats:
    """Probability, under the widened belief, that a run fails or is worse than the base by more than is tolerated.

    Args:
        log_ratio: log objective of every particle against the base, shape (J, K).
        base: row of the configuration that runs are compared with.
        allowance: what is tolerated, in multiples of the base's run, at least 0. One that fails costs FAILURE_CHARGE of them.
            None: WORSE, and no failure.
        interval_factor: the calibration watch's factor, at least 1, by which risks are judged more carefully.

    Returns shape (K,), 0 for the base.
    """
    limit = WORSE if allowance is None else math.log1p(allowance)
    fails = belief.p_fail if allowance is None or allowance < FAILURE_CHARGE - 1 else np.zeros_like(belief.p_fail)
    mean = belief.weights @ log_ratio
    widened = log_ratio > mean + (limit - mean) / (INFLATION * interval_factor)  # mean + factor (x - mean) > limit, solved for x
    harm: Floats = fails + (1 - fails) * (belief.weights @ widened)
    harm[base] = 0.0
    return np.clip(harm, 0, 1)
