"""Claim of a suggestion, and its chance, which is the confidence that is shown.

improvement, return   it ends well, is better than today under the preference, and keeps the validation loss; where today's values
                      are likelier to lose it than not, just that
trial                 it is safe to try: it ends well, and costs no more than a tenth more than today (its loss is judged by the
                      floor)
kept                  nothing that may be tried is better by more than the noise of a run
"""

import math
from functools import lru_cache

import numpy as np

from jpo.agent.candidate_rows import models_of
from jpo.agent.safety.risk import INFLATION
from jpo.records import CALIBRATED, Belief, Bools, Calibration, Candidates, Floats

LIKELIER = 0.5
"""Today's values are given up for their loss, and a trial is not run, when it is likelier below the floor than not."""
MOST = 0.99
"""No belief of a thousand simulated jobs carries more."""


def widened(logs: Floats, weights: Floats, factor: float) -> Floats:
    """Logs (J, K) as far from their mean as the belief was too sure of itself."""
    mean = weights @ logs
    return np.asarray(mean + INFLATION * factor * (logs - mean))


@lru_cache(maxsize=4)  # one decision, and its account, ask some thirty times
def log_loss_of(belief: Belief, candidates: Candidates, reference: int) -> Floats:
    """Log loss against the reference row, (J, K); rows that differ in hardware alone train the same model.

    Of these the reference speaks for the others, else the one with the most measured losses.
    """
    which = models_of(candidates)
    measured = 1.0 + (belief.runs if belief.loss_runs is None else belief.loss_runs)
    measured[reference] = np.inf
    order = np.argsort(measured, kind="stable")  # the last one of a group speaks
    speaker = np.zeros(which.max() + 1, dtype=np.int64)
    speaker[which[order]] = order
    return belief.log_loss[:, speaker[which]] - belief.log_loss[:, [reference]]


@lru_cache(maxsize=8)
def p_loss_worse(
    belief: Belief, candidates: Candidates, reference: int, tolerance: float, loss_interval_factor: float = 1.0
) -> Floats:
    """Chance that a run's validation loss is worse than the reference row's by more than the tolerance (0.02 = 2%), shape (K,),
    there 0; 0 everywhere if none was ever measured: nothing is known of it then."""
    if belief.val_loss is None:
        return np.zeros(len(belief.p_fail))
    against = _widened_loss(belief, candidates, reference, loss_interval_factor)
    return np.asarray(belief.weights @ (against > math.log1p(tolerance) + 1e-12))


@lru_cache(maxsize=2)
def _widened_loss(belief: Belief, candidates: Candidates, reference: int, factor: float) -> Floats:
    return widened(log_loss_of(belief, candidates, reference), belief.weights, factor)


def p_loss_below(belief: Belief, candidates: Candidates, ratio: float, loss_interval_factor: float = 1.0) -> Floats:
    """Chance that a run's validation loss is at most `ratio` times today's, shape (K,)."""
    against = _widened_loss(belief, candidates, candidates.current, loss_interval_factor)
    return np.asarray(belief.weights @ (against <= math.log(max(ratio, 1e-9)) + 1e-12))


def p_claim(
    belief: Belief,
    candidates: Candidates,
    claimed: Floats,
    calibration: Calibration = CALIBRATED,
    limit: float = 0.0,
    *,
    reference: int,
    tolerance: float | None = None,
) -> Floats:
    """Chance that a run ends well, is below the limit against today's, and keeps the validation loss of the reference, (K,).

    Args:
        claimed: shape (J, K), log objective against today's configuration, as far as the claim is about it.
        limit: of that: 0 = better than today's.
        reference: row of the loss.
        tolerance: of the loss, as a ratio; a trial's is left to the floor (vetoes.py). None: the loss has no say beyond the
            preference.
    """
    mean = belief.weights @ claimed
    # widened(claimed) < limit, solved for claimed
    good = claimed < mean + (limit - mean) / (INFLATION * calibration.interval_factor)
    if belief.only_failed[candidates.current]:
        good[:] = True  # today's values only ever failed: what ends well is better
    if tolerance is not None and belief.val_loss is not None:
        loss = _widened_loss(belief, candidates, reference, calibration.loss_interval_factor)
        kept = loss <= math.log1p(tolerance) + 1e-12
        lost = belief.weights @ ~kept[:, candidates.current] > LIKELIER
        good = np.where(belief.tried & lost, kept, good & kept)  # what ran before may restore it, whatever that costs
    return np.minimum((1 - belief.p_fail) * (belief.weights @ good), MOST)


def p_nothing_better(belief: Belief, today: Floats, rows: Bools, *, interval_factor: float = 1.0) -> float:
    """Chance that none of these rows is better than today's by more than the noise of a run; `today`: see `acquisition_values`.

    INFLATION is for one row at a time: with it, the best of many was stated to be no better with .38 where .47 happened, without
    it with .50 (333 decisions on 300 simulated jobs).
    """
    if not rows.any():
        return MOST
    better = (widened(today[:, rows], belief.weights, interval_factor / INFLATION) < -belief.noise) & ~belief.fails[:, rows]
    return min(float(belief.weights @ ~better.any(axis=1)), MOST)
