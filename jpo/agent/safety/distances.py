"""Distances that trials keep which were asked for, one after the other: away from what missed, and never beyond the way back.

What missed says much of its neighbours, so that a trial beside it is most likely lost. And from values that are more than one
step of the guard away from the best, the next run cannot go back to it: a walk from one missed trial to the next would end there.
Single trials, as of a pipeline's nights, are bounded by their budget instead.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.agent.safety.vetoes import STEP, Veto
from jpo.records import Belief, Bools, Candidates, Floats, Parameters

Admissible = Callable[[Parameters, Parameters], bool]
NEAR_A_MISS, NO_WAY_BACK = "JPO-I653", "JPO-I654"


def trial_vetoes(candidates: Candidates, belief: Belief, open_rows: Bools, best: int, admissible: Admissible) -> Iterator[Veto]:
    """What is not tried now: what has no way back to the best, unless nothing has one, and what is near to a miss, unless nothing
    else is left.

    `open_rows`: shape (K,), what may be run otherwise; `best`: row of the best that was measured; `admissible`: as of `Allowed`.
    """
    there, others = candidates.parameters(best), open_rows & (np.arange(len(open_rows)) != best)
    back = np.array([others[row] and admissible(candidates.parameters(row), there) for row in range(len(others))], dtype=np.bool_)
    new = others & ~belief.tried
    if back.any() and (new & ~back).any():
        words = "is more than one step from the best measured values, to which the next run may have to return"
        yield Veto(new & ~back, words, NO_WAY_BACK)
        new = new & back
    near = new & close_to_a_miss(candidates, belief)
    if near.any() and (new & ~near & (belief.p_fail < LIKELY_TO_FAIL)).any():
        words = f"is within a factor of {STEP:g} of values with which no run ended well"
        yield Veto(near, words, NEAR_A_MISS)


def close_to_a_miss(candidates: Candidates, belief: Belief) -> Bools:
    """Rows less than a STEP, as the product of all ratios, from one that was tried without ever ending well, shape (K,)."""
    (missed,) = np.nonzero(belief.tried & (belief.runs == 0))
    apart = np.zeros((len(candidates.values), len(missed)))
    for name, column in zip(candidates.names, candidates.values.T, strict=True):
        if name in candidates.words or (column <= 0).any():  # no ratios
            apart += np.where(column[:, None] == column[missed], 0.0, math.inf)
        else:
            logs: Floats = np.log(column)
            apart += np.abs(logs[:, None] - logs[missed])  # (K, missed)
    return np.asarray((apart < math.log(STEP) - 1e-6).any(axis=1))
