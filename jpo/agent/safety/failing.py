"""Values that fail often: which configurations' runs failed more often than chance would have it.

A cluster loses a run now and then, whatever its values. That is the chance against which a configuration is held; how often it
happens, the runs of this workload with other values say.
"""

import numpy as np

from jpo.agent.candidate_rows import least, logs_of
from jpo.records import Belief, Bools, Candidates, Floats, Ints
from jpo.wording import numbers

CODE = "JPO-W649"
FEWEST = 2
"""Failures without which nothing is said: one may be anything."""
SURE = 0.95
"""Probability from which on it is no chance. Two failures of three runs are enough where no run with other values failed."""
MUCH = 0.1
"""By so much it must fail more often than others: with many runs any difference would be no chance, and worth nothing."""
_UNKNOWN = (0.5, 0.5)
"""Jeffreys' prior of how often a configuration fails: Brown et al., "Interval Estimation for a Binomial Proportion", 2001."""
_CLUSTER = (0.5, 5.5)
"""Prior of how often runs fail by chance: a twelfth on average, worth six runs."""
_RATES = (np.arange(400) + 0.5) / 400
_MUCH_FURTHER = round(MUCH * len(_RATES))
"""MUCH, in steps of _RATES."""


def often_failing(runs: Ints, failures: Ints) -> Bools:
    """Configurations that fail more often than chance would have it, shape (K,).

    Chance is what those fare with that fail less often than they end well; what mostly fails says nothing of it.
    `runs`, `failures`: shape (K,), runs there that ended well, and that failed. Those stopped from outside are neither.
    """
    often = np.zeros(len(runs), dtype=np.bool_)
    informative, suspected = runs > failures, np.flatnonzero(failures >= FEWEST)
    lost, well = np.where(informative, failures, 0), np.where(informative, runs, 0)
    here = _beta(_UNKNOWN, failures[suspected], runs[suspected])  # (suspected, rates)
    chance = _beta(_CLUSTER, (lost.sum() - lost)[suspected], (well.sum() - well)[suspected])  # of all others
    more = 1 - np.cumsum(here, axis=1)  # P(rate here > rate)
    often[suspected] = (chance[:, :-_MUCH_FURTHER] * more[:, _MUCH_FURTHER:]).sum(axis=1) >= SURE
    return often


def _beta(prior: tuple[float, float], failed: Ints, well: Ints) -> Floats:
    """Posteriors of rates of failures over _RATES, (n,), (n,) -> (n, rates), each with sum 1."""
    log = np.outer(prior[0] + failed - 1, np.log(_RATES)) + np.outer(prior[1] + well - 1, np.log1p(-_RATES))
    density = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(density / density.sum(axis=1, keepdims=True))


def chance_of_failing(runs: Ints, failures: Ints) -> Floats:
    """Chance that a run fails whatever its values, at each configuration, shape (K,): the cluster's, and a little more where runs
    did fail; 0 as long as nothing that mostly ends well has failed.

    NaN where failures are no chance, those of the configuration alone: it mostly fails, or fails too often. A failure of a
    cluster that counts for the values it met would send the next night elsewhere, where it is as likely.
    """
    informative = (runs > failures) & ~often_failing(runs, failures)
    lost, ended = int(failures[informative].sum()), int((runs + failures)[informative].sum())
    worth = sum(_CLUSTER)
    rate = (_CLUSTER[0] + lost) / (worth + ended) if lost else 0.0
    here = (worth * rate + failures) / (worth + runs + failures)
    return np.where(informative, here if lost else 0.0, np.where(failures > 0, np.nan, rate))


def words(belief: Belief, row: int) -> str:
    """What is said of values that fail often, after their name: how often they did, and how often others did."""
    others = (belief.runs > belief.failures) & (np.arange(len(belief.runs)) != row)
    failed, there = int(belief.failures[row]), int(belief.failures[row] + belief.runs[row])
    elsewhere, in_all = int(belief.failures[others].sum()), int((belief.failures + belief.runs)[others].sum())
    besides = f" (runs with other values: {elsewhere} of {in_all})" if in_all else ""
    return f"failed in {failed} of {numbers.counted(there, 'run')}{besides}, more often than by chance"


def known_to_end_well(candidates: Candidates, runs: Ints, often: Bools) -> Bools:
    """Rows besides today's that have ended well (`runs`) and do not fail often, shape (K,): where one can go back to."""
    now = np.arange(len(runs)) == candidates.current
    return np.asarray((runs > 0) & ~often & ~now)


def no_less_than(candidates: Candidates, belief: Belief, row: int, often: Bools) -> Bools:
    """Rows at least as far as a failing one from the nearest that ends well, in whatever differs between the two, shape (K,).

    A batch of 128 that fails where 64 does not will fail at another rate, too. None where one of them is known to end well.
    """
    well = (belief.runs > 0) & ~often
    nothing = np.zeros(len(belief.runs), dtype=np.bool_)
    if not well.any():
        return nothing
    worded = np.array([name in candidates.words for name in candidates.names])
    logs = np.where(worded, candidates.values, logs_of(candidates))
    apart = np.abs(np.where(worded, logs != logs[row], logs - logs[row])).sum(axis=1)
    step = logs[row] - logs[least(apart, well)]  # (parameters,)
    as_far = np.where(worded, logs == logs[row], np.sign(step) * (logs - logs[row]) >= -1e-9)
    rows = (as_far | (step == 0)).all(axis=1)
    return nothing if (rows & well).any() else np.asarray(rows)
