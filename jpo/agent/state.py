"""The state as the networks see it: WIDTH bounded numbers for every candidate, first its own and then those that all share.

Every candidate is scored by the same small network, so the number and meaning of the parameters need not be known to it. What was
not measured, or is not known of the situation, is told by its own flag (`tried`, `horizon known`), so that a zero means zero.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import CLIP, log_objective
from jpo.agent.context import UNKNOWN, Context
from jpo.agent.preference import FAILURE_CHARGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.acquisition import AcquisitionValues
    from jpo.records import Belief, Bools, Candidates, Floats, Ints, Preference

    Features = NDArray[np.float32]

OWN = (
    "log expected cost",
    "mean against incumbent",
    "sd against incumbent",
    "p fails",
    "p better",
    "expected improvement",
    "p worse than incumbent",
    "p worse than today",
    "p optimum",
    "tried",
    "runs",
    "failures",
    "measured mean",
    "is incumbent",
    "is today",
    "log2 batch size against incumbent",
    "log price against incumbent",
    "belief rule score",
    "knowledge gain",
    "expected regret",
    "runs since it ran",
    "moved since it ran",
    "log expected cost later",
    "gain later",
    "is incumbent later",
)
SHARED = (
    "runs so far",
    "weight of time",
    "weight of cost",
    "weight of efficiency",
    "effective share",
    "expected optimum",
    "share tried",
    "best improvement",
    "p incumbent optimal",
    "noise",
    "loss known",
    "number of candidates",
    "weight of loss",
    "regret of the incumbent",
    "share allowed",
    "horizon known",
    "runs left",
    "inverse of runs left",
    "budget known",
    "budget slack",
    "later known",
    "share of runs later",
    "age known",
    "last miss known",
    "last miss",
    "surprise",
)
WIDTH = len(OWN) + len(SHARED)
SCHEMA = hashlib.sha256("\n".join(("state 2", *OWN, *SHARED)).encode()).hexdigest()[:16]
"""Weights and checkpoints name it: another list of features is another network."""

BOUND = 5.0
"""Features are clipped here; ordinary values lie within 1 or 2."""

SHORTLIST = 48
"""Candidates that the networks compare; the rest is behind by the belief rule. Bounds the replay and the cost of an update."""


def features(
    belief: Belief,
    candidates: Candidates,
    preference: Preference,
    promise: AcquisitionValues,
    allowed: Bools,
    context: Context = UNKNOWN,
) -> Features:
    """Encode what is believed of each candidate. Shape (K, WIDTH), finite, within -5..5."""
    regret = _regret(belief, candidates, preference, promise)
    own = _own(belief, candidates, promise, regret, context)
    shared = (*_shared(belief, candidates, preference, promise), *_of_situation(candidates, promise, regret, allowed, context))
    rows = np.concatenate((own, np.broadcast_to(shared, (len(own), len(shared)))), axis=1)  # (K, WIDTH)
    return np.asarray(np.clip(np.nan_to_num(rows), -BOUND, BOUND), dtype=np.float32)


def _own(belief: Belief, candidates: Candidates, promise: AcquisitionValues, regret: Floats, context: Context) -> Floats:
    """Shape (K, len(OWN)), in the order of OWN."""
    row = np.arange(len(candidates.values))
    nothing = np.zeros(len(row))
    later = context.later
    return np.column_stack(
        (
            np.log(promise.expected),
            promise.mean,
            promise.sd,
            belief.p_fail,
            promise.p_better,
            promise.improvement * 4,
            promise.p_worse,
            promise.p_worse_today,
            promise.p_optimum * 4,
            belief.tried,
            np.log1p(belief.runs),
            np.log1p(belief.failures + belief.stopped),
            np.where(belief.runs > 0, promise.mean, 0.0),
            row == promise.incumbent,
            row == candidates.current,
            _log2_batch(candidates, promise.incumbent) / 2,
            candidates.log_rate - candidates.log_rate[promise.incumbent],
            promise.score,
            promise.knowledge * 4,
            np.log1p(regret),
            nothing if context.age is None else np.log1p(np.nan_to_num(context.age)) / 2,
            nothing if context.moved is None else np.nan_to_num(context.moved) * 4,
            nothing if later is None else np.log(later.expected),
            nothing if later is None else np.maximum(later.improvement, later.knowledge) * 4,
            nothing if later is None else row == later.incumbent,
        )
    ).astype(np.float64)


def _shared(belief: Belief, candidates: Candidates, preference: Preference, promise: AcquisitionValues) -> tuple[float, ...]:
    """The first half of SHARED: belief and preference."""
    can = candidates.admissible
    return (
        float(np.log1p((belief.runs + belief.failures + belief.stopped).sum()) / 2),
        preference.time,
        preference.cost,
        preference.efficiency,
        float(np.log10(max(belief.effective_share, 1e-3)) / 3 + 1),
        float(np.min(promise.mean[can])),
        float(np.mean(belief.tried[can])),
        float(np.max(promise.improvement[can]) * 4),
        float(promise.p_optimum[promise.incumbent]),
        belief.noise * 4,
        belief.val_loss is not None,
        float(np.log(can.sum()) / 4),
        preference.loss,
    )


def _of_situation(
    candidates: Candidates, promise: AcquisitionValues, regret: Floats, allowed: Bools, context: Context
) -> tuple[float, ...]:
    """The second half of SHARED: what is left, what changes, and how well the last forecasts were met."""
    left, slack, miss = context.runs_left, context.budget_slack, context.last_miss
    return (
        float(np.log1p(regret[promise.incumbent])),
        float(allowed.sum() / candidates.admissible.sum()),
        left is not None,
        0.0 if left is None else float(np.log1p(left) / 2),
        0.0 if left is None else 1 / (1 + left),
        slack is not None,
        0.0 if slack is None else slack,
        context.later is not None,
        context.share_later,
        context.age is not None,
        miss is not None,
        0.0 if miss is None else miss / 2,
        context.surprise,
    )


def _regret(belief: Belief, candidates: Candidates, preference: Preference, promise: AcquisitionValues) -> Floats:
    """Expected reward of a run, turned round: expected cost in multiples of the optimum's, less one. Shape (K,), at least 0.

    Each particle has an optimum of its own; one that fails there is none.
    """
    objective = log_objective(belief, preference)
    log_ratio = np.clip(objective - objective[:, [promise.incumbent]], -CLIP, CLIP)  # (J, K)
    usable = candidates.admissible & ~(belief.fails & (belief.runs == 0))
    best = np.minimum(np.where(usable, log_ratio, CLIP).min(axis=1), 0.0)  # (J,); the incumbent can always be run
    weights = belief.weights * np.exp(-best)
    expected = (1 - belief.p_fail) * (weights @ np.exp(log_ratio)) + belief.p_fail * FAILURE_CHARGE * weights.sum()
    return np.asarray(np.maximum(expected - 1, 0.0))


def _log2_batch(candidates: Candidates, incumbent: int) -> Floats:
    if "batch_size" not in candidates.names:
        return np.zeros(len(candidates.values))
    batch = candidates.values[:, candidates.names.index("batch_size")]
    doublings: Floats = np.log2(batch / batch[incumbent])
    return doublings


@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """What the networks are shown before a run.

    Attributes:
        rows: shape (n,), n at most SHORTLIST, ascending rows of the candidate set.
        features: shape (n, WIDTH).
        allowed: shape (n,), which of them may be run.
    """

    rows: Ints
    features: Features
    allowed: Bools

    def index(self, row: int) -> int:
        """Where a row of the candidate set stands in this observation."""
        return int(np.flatnonzero(self.rows == row)[0])


def observe(
    belief: Belief,
    candidates: Candidates,
    preference: Preference,
    promise: AcquisitionValues,
    allowed: Bools,
    *always: int,
    context: Context = UNKNOWN,
) -> Observation:
    """Shortlist and encode: today's row, the incumbent and `always`, then the allowed ones that the belief rule likes best."""
    order = [int(row) for row in np.argsort(promise.score, kind="stable") if allowed[row]]
    first = dict.fromkeys((candidates.current, promise.incumbent, *always, *order))
    rows = np.array(sorted(list(first)[:SHORTLIST]), dtype=np.int64)
    encoded = features(belief, candidates, preference, promise, allowed, context)
    return Observation(rows, encoded[rows], allowed[rows])
