"""What the belief promises of each candidate under a preference, and the belief rule, which weighs cost now against gain later.

Everything is relative to the incumbent: the best configuration that has been measured and may be used. State and decision both
read these numbers, so that what the agent sees and what the reader is told are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.preference import FAILURE_CHARGE, scalarise

if TYPE_CHECKING:
    from jpo.records import Belief, Bools, Candidates, Floats, Preference

HORIZON_RUNS = 10
"""Further runs which a better configuration would serve. 6 to 20 gave equal results within 2 %, 3 stopped trying too early."""

WORSE = math.log(1.1)
"""More than a tenth worse is harm; less is within what users accept for learning something."""

INFLATION = 1.2
"""The belief's spread is widened by this factor when harm is judged: its forecasts were measured to be slightly optimistic."""

CLIP = 3.0
"""Log ratios beyond e^3 = 20-fold are equally out of the question, and would drown every mean."""


@dataclass(frozen=True, eq=False, slots=True)
class Prospects:
    """What is expected of every candidate; all arrays have shape (K,).

    Attributes:
        incumbent: best measured row that may be used (the current row while nothing has ended well).
        expected: expected cost of the next run there, failures charged, in multiples of the incumbent's.
        mean, sd: of the log objective against the incumbent, if it does not fail; negative mean = better.
        p_better: probability that it ends well and is better than the incumbent.
        p_worse, p_worse_today: probability that it fails or is more than a tenth worse than the incumbent, than today.
        improvement: expected gain over the incumbent, in multiples of its cost, losses counted as none.
        p_optimum: probability that it is the best of all that may be used.
        score: the belief rule's number; the smallest is its choice.
    """

    incumbent: int
    expected: Floats
    mean: Floats
    sd: Floats
    p_better: Floats
    p_worse: Floats
    p_worse_today: Floats
    improvement: Floats
    p_optimum: Floats
    score: Floats


def prospects(belief: Belief, candidates: Candidates, preference: Preference) -> Prospects:
    """Weigh every candidate under the belief.

    The score is E[C_k] - H E[max(C_incumbent - C_k, 0)], the second term for untried k only: what the next run costs, less what
    the H runs after it would save if it turned out better.
    """
    w = belief.weights
    objective = _objective(belief, preference)  # (J, K)
    today = np.clip(objective - objective[:, [candidates.current]], -CLIP, CLIP)
    incumbent = _incumbent(w @ np.exp(today), belief, candidates)
    log_ratio = np.clip(objective - objective[:, [incumbent]], -CLIP, CLIP)
    ratio, p_ok = np.exp(log_ratio), 1 - belief.p_fail
    mean = w @ log_ratio
    expected = p_ok * (w @ ratio) + belief.p_fail * FAILURE_CHARGE
    improvement = p_ok * (w @ np.maximum(1 - ratio, 0))
    return Prospects(
        incumbent=incumbent,
        expected=expected,
        mean=mean,
        sd=np.sqrt(np.maximum(w @ log_ratio**2 - mean**2, 0)),
        p_better=p_ok * (w @ (log_ratio < 0)),
        p_worse=_p_harm(log_ratio, w, belief.p_fail, incumbent),
        p_worse_today=_p_harm(today, w, belief.p_fail, candidates.current),
        improvement=improvement,
        p_optimum=_p_optimum(log_ratio, w, candidates.admissible),
        score=expected - HORIZON_RUNS * np.where(belief.runs + belief.failures == 0, improvement, 0),
    )


def _objective(belief: Belief, preference: Preference) -> Floats:
    """The log objective of every particle; what no run has measured has no say, whatever the simulator thinks of it."""
    loss = belief.log_loss if belief.val_loss is not None else np.zeros_like(belief.log_loss)
    utilisation = belief.log_utilisation if belief.knows_utilisation else np.zeros_like(belief.log_utilisation)
    return scalarise(belief.log_time, belief.log_cost, utilisation, loss, preference)


def _incumbent(ratio_to_today: Floats, belief: Belief, candidates: Candidates) -> int:
    """The row of smallest expected cost among those which have ended well and may be used; else the current one."""
    ended_well = (belief.runs > 0) & candidates.admissible
    if not ended_well.any():
        return candidates.current
    charged = (1 - belief.p_fail) * ratio_to_today + belief.p_fail * FAILURE_CHARGE
    return int(np.argmin(np.where(ended_well, charged, np.inf)))


def _p_harm(log_ratio: Floats, weights: Floats, p_fail: Floats, base: int) -> Floats:
    """Probability, under the widened belief, that a run fails or is more than a tenth worse than `base` (itself: never)."""
    mean = weights @ log_ratio
    widened = log_ratio > mean + (WORSE - mean) / INFLATION  # mean + INFLATION (x - mean) > WORSE, solved for x
    harm: Floats = p_fail + (1 - p_fail) * (weights @ widened)
    harm[base] = 0.0
    return np.clip(harm, 0, 1)


def _p_optimum(log_ratio: Floats, weights: Floats, rows: Bools) -> Floats:
    best = np.where(rows, log_ratio, np.inf).argmin(axis=1)  # (J,)
    share: Floats = np.bincount(best, weights, minlength=len(rows)).astype(np.float64)
    return share
