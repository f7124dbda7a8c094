"""Acquisition values of each candidate under a preference, and the belief rule, which weighs cost now against gain later.

Everything is relative to the incumbent: the best configuration that has been measured and may be used. State and decision both
read these numbers, so that agent and reader see the same.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from jpo.agent.candidate_rows import least
from jpo.agent.horizon import UNTOLD
from jpo.agent.preference import FAILURE_CHARGE, scalarise
from jpo.agent.safety.risk import chance_of_harm
from jpo.records import Belief, Bools, Candidates, Floats, Preference

WORTH = 0.1
"""Least saving over the horizon, in runs of the incumbent, for which a trial is worth it, or to depart from the rule. Against 0:
equal cost up to 20 runs on 60 simulated jobs, 1 to 2% less on the recorded ones, harm 2% instead of 3 to 8; but 1 to 2% more cost
after 40, and LCBench's regret after 10 runs is .19 instead of .15: who searches for the best model stops too early."""
POINTS, TINY = 21, 1e-12
"""Gauss-Hermite points of one run's outcome, and what keeps a variance of nothing from dividing."""
CLIP = 3.0
"""Log ratios beyond e^3 = 20-fold are equally out of the question, and would drown every mean."""


@dataclass(frozen=True, eq=False, slots=True)
class AcquisitionValues:
    """Acquisition values of every candidate: what is expected of it; all arrays have shape (K,).

    Attributes:
        incumbent: best measured row that may be used, see `_incumbent` (the current row while nothing has ended well).
        expected: expected cost of the next run there, failures charged, in multiples of the incumbent's.
        mean, sd: of the log objective against the incumbent, if it does not fail; negative mean = better.
        p_better: probability that it ends well and is better than the incumbent.
        p_worse, p_worse_today: probability that it fails or is more than a tenth worse than the incumbent, than today.
        improvement: expected gain over the incumbent, in multiples of its cost, losses counted as none.
        p_optimum: probability that it is the best of all that may be used.
        regret: expected cost in multiples of the optimum's, less one; each particle has an optimum of its own.
        horizon: further runs which a better configuration is taken to serve.
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
    regret: Floats
    horizon: float
    score: Floats

    def within(self, horizon: float) -> Self:
        return replace(self, horizon=horizon, score=self.score + (self.horizon - horizon) * self.improvement)


def acquisition_values(
    belief: Belief, candidates: Candidates, objective: Floats, today: Floats, *, interval_factor: float = 1.0
) -> AcquisitionValues:
    """Acquisition values of every candidate under the belief.

    `objective`: shape (J, K), see `log_objective`; `today`: see `log_ratios`; `interval_factor`: see `chance_of_harm`.

    The score is E[C_k] - H E[max(C_incumbent - C_k, 0)] + WORTH, all but the first term for untried k only: what the next run
    costs, less what the H runs after it would save if it turned out better.
    """
    w = belief.weights
    incumbent = _incumbent(today, belief, candidates)
    log_ratio = today if incumbent == candidates.current else log_ratios(objective, incumbent)
    ratio, p_ok = np.exp(log_ratio), 1 - belief.p_fail
    mean = w @ log_ratio
    expected = p_ok * (w @ ratio) + belief.p_fail * FAILURE_CHARGE
    risk = chance_of_harm(belief, today, candidates.current, interval_factor=interval_factor)
    worse = risk if log_ratio is today else chance_of_harm(belief, log_ratio, incumbent, interval_factor=interval_factor)
    best = (log_ratio + np.where(candidates.admissible, 0.0, np.inf)).argmin(axis=1)  # (J,)
    improvement = np.where(belief.tried, 0.0, p_ok * (w @ np.maximum(1 - ratio, 0)))
    return AcquisitionValues(
        incumbent=incumbent,
        expected=expected,
        mean=mean,
        sd=np.sqrt(np.maximum(w @ log_ratio**2 - mean**2, 0)),
        p_better=p_ok * (w @ (log_ratio < 0)),
        p_worse=worse,
        p_worse_today=risk,
        improvement=improvement,
        p_optimum=np.bincount(best, w, minlength=len(mean)).astype(np.float64),
        regret=_regret(log_ratio, ratio, belief, candidates),
        horizon=UNTOLD,
        score=expected - UNTOLD * improvement + WORTH * ~belief.tried,
    )


def knowledge_gradient(belief: Belief, log_ratio: Floats, usable: Bools) -> Floats:
    """What a run of each candidate is expected to save in every later one by what it tells of all usable ones, in runs of the
    incumbent, shape (K,). A run that misses its target tells of its neighbours as well: it is a long one.

    Source: Frazier, Powell and Dayanik, "The Knowledge-Gradient Policy for Correlated Normal Beliefs", INFORMS J. Comput. 2009.
    """
    mean = belief.weights @ log_ratio
    apart = log_ratio - mean
    covariance = (apart.T * belief.weights) @ apart  # (K, K)
    variance = np.diag(covariance)
    moves = covariance / np.sqrt(variance + belief.noise**2 + TINY)  # of each row by one standard deviation of a run of each

    def cost(log: Floats, spread: Floats) -> Floats:
        p_fail = belief.p_fail[:, None]
        return np.asarray(((1 - p_fail) * np.exp(log + spread / 2) + p_fail * FAILURE_CHARGE)[usable].min(axis=0))

    now = cost(mean[:, None], variance[:, None])
    places, shares = np.polynomial.hermite_e.hermegauss(POINTS)
    after = [cost(mean[:, None] + place * moves, variance[:, None] - moves**2) for place in places]
    return np.asarray(np.maximum(now - shares @ np.array(after) / shares.sum(), 0.0))


def log_objective(belief: Belief, preference: Preference, reference: int) -> Floats:
    """Log objective of every particle, shape (J, K); what no run has measured has no say, whatever the simulator thinks.

    `reference`: row of the values before the agent's first change: against its validation loss a model is worse. Against today's,
    each change might add what is tolerated; in simulated jobs cost was 4% higher then, and harm half as frequent again.
    """
    nothing = np.zeros((1, 1))  # broadcast: half of the time of an answer would go into zeros
    loss = nothing if belief.val_loss is None else belief.log_loss - belief.log_loss[:, [reference]]
    utilisation = belief.log_utilisation if belief.knows_utilisation else nothing
    return scalarise(belief.log_time, belief.log_cost, utilisation, loss, preference)


def log_ratios(objective: Floats, row: int) -> Floats:
    """Log objective of every particle against that of a row, (J, K)."""
    return np.asarray(np.clip(objective - objective[:, [row]], -CLIP, CLIP))


def _incumbent(today: Floats, belief: Belief, candidates: Candidates) -> int:
    """The row of smallest expected cost among those which have ended well and may be used; else the current one.

    One lucky run makes no incumbent: a row that ran once must be better than the best one that ran more often, or than today's,
    by more than the noise. On recorded jobs this cost nothing (cumulative cost equal within 0.5% at 5 to 40 runs).
    """
    ended_well = (belief.runs > 0) & candidates.admissible
    if not ended_well.any():
        return candidates.current
    at, w = np.flatnonzero(ended_well), belief.weights
    charged = np.full(len(belief.p_fail), np.inf)
    charged[at] = (1 - belief.p_fail[at]) * (w @ np.exp(today[:, at])) + belief.p_fail[at] * FAILURE_CHARGE
    favourite = least(charged, ended_well)
    holders = ended_well & (belief.runs > 1)
    if not holders.any():
        holders = ended_well & (np.arange(len(charged)) == candidates.current)
    if not holders.any() or clearly_better(belief, w @ today, favourite, least(charged, holders)):
        return favourite
    return least(charged, holders)


def clearly_better(belief: Belief, mean: Floats, row: int, than: int) -> bool:
    """Whether a measured row is better than another one by more than the noise of the means of their runs; itself: no.

    `mean`: shape (K,), mean log objective, against any row.
    """
    runs = np.maximum(belief.runs, 1)
    return bool(mean[row] - mean[than] < -belief.noise * math.sqrt(1 / runs[row] + 1 / runs[than]))


def _regret(log_ratio: Floats, ratio: Floats, belief: Belief, candidates: Candidates) -> Floats:
    """Expected reward of a run, turned round, shape (K,), at least 0. A particle that fails somewhere has no optimum there."""
    usable = candidates.admissible & ~(belief.fails & (belief.runs == 0))
    best = np.minimum((log_ratio * usable).min(axis=1), 0.0)  # (J,); the incumbent, which has 0, can always be run
    weights = belief.weights * np.exp(-best)
    expected = (1 - belief.p_fail) * (weights @ ratio) + belief.p_fail * FAILURE_CHARGE * weights.sum()
    return np.asarray(np.maximum(expected - 1, 0.0))
