"""The state as the networks see it: 30 bounded numbers for every candidate, 18 of its own and 12 that all share.

Every candidate is scored by the same small network, so the number and meaning of the parameters need not be known to it. What was
not measured is told by its own flag (`tried`, `loss known`), so that a zero means zero.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.prospects import Prospects

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
)
WIDTH = len(OWN) + len(SHARED)
SCHEMA = hashlib.sha256("\n".join(("state 1", *OWN, *SHARED)).encode()).hexdigest()[:16]
"""Weights and checkpoints name it: another list of features is another network."""

BOUND = 5.0
"""Features are clipped here; ordinary values lie within 1 or 2."""

SHORTLIST = 48
"""Candidates that the networks compare; the rest is behind by the belief rule. Bounds the replay and the cost of an update."""


def features(belief: Belief, candidates: Candidates, preference: Preference, promise: Prospects) -> Features:
    """Encode what is believed of each candidate. Shape (K, 30), finite, within -5..5."""
    own = _own(belief, candidates, promise)
    shared = _shared(belief, candidates, preference, promise)
    rows = np.concatenate((own, np.broadcast_to(shared, (len(own), len(shared)))), axis=1)  # (K, 30)
    return np.clip(np.nan_to_num(rows), -BOUND, BOUND).astype(np.float32)


def _own(belief: Belief, candidates: Candidates, promise: Prospects) -> Floats:
    """Shape (K, 18), in the order of OWN."""
    row = np.arange(len(candidates.values))
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
            belief.runs + belief.failures > 0,
            np.log1p(belief.runs),
            np.log1p(belief.failures),
            np.where(belief.runs > 0, promise.mean, 0.0),
            row == promise.incumbent,
            row == candidates.current,
            _log2_batch(candidates, promise.incumbent) / 2,
            candidates.log_rate - candidates.log_rate[promise.incumbent],
            promise.score,
        )
    ).astype(np.float64)


def _shared(belief: Belief, candidates: Candidates, preference: Preference, promise: Prospects) -> Floats:
    """Shape (12,), in the order of SHARED."""
    can = candidates.admissible
    return np.array(
        (
            np.log1p((belief.runs + belief.failures).sum()) / 2,
            preference.time,
            preference.cost,
            preference.efficiency,
            np.log10(max(belief.effective_share, 1e-3)) / 3 + 1,
            np.min(promise.mean[can]),
            np.mean((belief.runs + belief.failures)[can] > 0),
            np.max(promise.improvement[can]) * 4,
            promise.p_optimum[promise.incumbent],
            belief.noise * 4,
            belief.val_loss is not None,
            np.log(can.sum()) / 4,
        ),
        dtype=np.float64,
    )


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
        features: shape (n, 30).
        allowed: shape (n,), which of them may be run.
    """

    rows: Ints
    features: Features
    allowed: Bools

    def index(self, row: int) -> int:
        """Where a row of the candidate set stands in this observation."""
        return int(np.flatnonzero(self.rows == row)[0])


def observe(
    belief: Belief, candidates: Candidates, preference: Preference, promise: Prospects, allowed: Bools, *always: int
) -> Observation:
    """Shortlist and encode: today's row, the incumbent and `always`, then the allowed ones that the belief rule likes best."""
    order = [int(row) for row in np.argsort(promise.score, kind="stable") if allowed[row]]
    first = dict.fromkeys((candidates.current, promise.incumbent, *always, *order))
    rows = np.array(sorted(list(first)[:SHORTLIST]), dtype=np.int64)
    return Observation(rows, features(belief, candidates, preference, promise)[rows], allowed[rows])
