"""State as the networks see it: WIDTH bounded numbers for every candidate: its own, those that all share, and its queue.

Every candidate is scored by the same small network, so the number and meaning of the parameters need not be known to it. What was
not measured, or is not known of the context, has its own flag (`tried`, `horizon known`), so that a zero means zero.
"""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from jpo.agent.acquisition import AcquisitionValues
from jpo.agent.context import PhaseSummary, Usage
from jpo.agent.problem import Problem
from jpo.agent.safety.queue_waits import features_of
from jpo.records import Bools, Candidates, Floats, Ints

Features = NDArray[np.float32]
_OWN: "Mapping[str, Callable[[Problem], Floats | Bools | float]]" = {
    "log expected cost": lambda p: np.log(p.acquisition.expected),
    "mean against incumbent": lambda p: p.acquisition.mean,
    "sd against incumbent": lambda p: p.acquisition.sd,
    "p fails": lambda p: p.belief.p_fail,
    "p better": lambda p: p.acquisition.p_better,
    "expected improvement": lambda p: p.acquisition.improvement * 4,
    "p worse than incumbent": lambda p: p.acquisition.p_worse,
    "p worse than today": lambda p: p.acquisition.p_worse_today,
    "p optimum": lambda p: p.acquisition.p_optimum * 4,
    "tried": lambda p: p.belief.tried,
    "runs": lambda p: np.log1p(p.belief.runs),
    "failures": lambda p: np.log1p(p.belief.failures + p.belief.stopped),
    "measured mean": lambda p: np.where(p.belief.runs > 0, p.acquisition.mean, 0.0),
    "is incumbent": lambda p: _is(p.acquisition.incumbent, p),
    "is today": lambda p: _is(p.candidates.current, p),
    "log2 batch size against incumbent": lambda p: _log2_batch(p.candidates, p.acquisition.incumbent) / 2,
    "log price against incumbent": lambda p: p.candidates.log_rate - p.candidates.log_rate[p.acquisition.incumbent],
    "belief rule score": lambda p: _scaled_score(p.acquisition),
    "expected regret": lambda p: np.log1p(p.acquisition.regret),
    "runs since it ran": lambda p: 0.0 if p.context.watch.age is None else np.log1p(np.nan_to_num(p.context.watch.age)) / 2,
    "moved since it ran": lambda p: 0.0 if p.context.watch.moved is None else np.nan_to_num(p.context.watch.moved) * 4,
    "log expected cost later": lambda p: 0.0 if p.context.later is None else np.log(p.context.later.expected),
    "gain later": lambda p: 0.0 if p.context.later is None else p.context.later.improvement * 4,
    "is incumbent later": lambda p: 0.0 if p.context.later is None else _is(p.context.later.incumbent, p),
    # as the residuals of earlier jobs on this installation would have them; without any the score is the belief rule's
    "log expected cost here": lambda p: 0.0 if p.context.earlier is None else np.log(p.context.earlier.acquisition.expected),
    "mean here": lambda p: 0.0 if p.context.earlier is None else p.context.earlier.acquisition.mean,
    "sd here": lambda p: 0.0 if p.context.earlier is None else p.context.earlier.acquisition.sd,
    "p fails here": lambda p: 0.0 if p.context.earlier is None else p.context.earlier.p_fails,
    "p worse than today here": lambda p: 0.0 if p.context.earlier is None else p.context.earlier.acquisition.p_worse_today,
    "gain here": lambda p: 0.0 if p.context.earlier is None else p.context.earlier.acquisition.improvement * 4,
    "belief rule score here": lambda p: _scaled_score(p.context.earlier.acquisition if p.context.earlier else p.acquisition),
}
"""Numbers of each candidate, shape (K,), or one that is the same for all."""
_SHARED: Mapping[str, Callable[[Problem, Bools], float]] = {
    "runs so far": lambda p, _: np.log1p((p.belief.runs + p.belief.failures + p.belief.stopped).sum()) / 2,
    "weight of time": lambda p, _: p.comparison.preference.time,
    "weight of cost": lambda p, _: p.comparison.preference.paid,
    "weight of efficiency": lambda p, _: p.comparison.preference.efficiency,
    "effective share": lambda p, _: np.log10(max(p.belief.effective_share, 1e-3)) / 3 + 1,
    "expected optimum": lambda p, _: np.min(p.acquisition.mean[p.candidates.admissible]),
    "share tried": lambda p, _: float(np.mean(p.belief.tried[p.candidates.admissible])),
    "best improvement": lambda p, _: np.max(p.acquisition.improvement[p.candidates.admissible]) * 4,
    "p incumbent optimal": lambda p, _: p.acquisition.p_optimum[p.acquisition.incumbent],
    "noise": lambda p, _: p.belief.noise * 4,
    "loss known": lambda p, _: p.belief.val_loss is not None,
    "number of candidates": lambda p, _: np.log(p.candidates.admissible.sum()) / 4,
    "weight of loss": lambda p, _: p.comparison.preference.loss,
    "regret of the incumbent": lambda p, _: np.log1p(p.acquisition.regret[p.acquisition.incumbent]),
    "share allowed": lambda p, allowed: allowed.sum() / p.candidates.admissible.sum(),
    "horizon known": lambda p, _: p.context.runs_left is not None,
    "runs left": lambda p, _: 0.0 if p.context.runs_left is None else np.log1p(p.context.runs_left) / 2,
    "inverse of runs left": lambda p, _: 0.0 if p.context.runs_left is None else 1 / (1 + p.context.runs_left),
    "budget known": lambda p, _: p.context.budget_slack is not None,
    "budget slack": lambda p, _: p.context.budget_slack or 0.0,
    "later known": lambda p, _: p.context.later is not None,
    "share of runs later": lambda p, _: p.context.share_later,
    "age known": lambda p, _: p.context.watch.age is not None,
    "last miss known": lambda p, _: p.context.watch.last_miss is not None,
    "last miss": lambda p, _: (p.context.watch.last_miss or 0.0) / 2,
    "surprise": lambda p, _: p.context.watch.surprise,
    "horizon": lambda p, _: math.log(1 + p.context.horizon) / 4,
    "failures so far": lambda p, _: np.log1p((p.belief.failures + p.belief.stopped).sum()) / 2,
    "interval factor": lambda p, _: p.comparison.calibration.interval_factor - 1,
    "budget left": lambda p, _: p.leeway.budget_left / 2,
    "explore on": lambda p, _: p.boldness.explore == "on",
    "here known": lambda p, _: p.context.earlier is not None,
    "jobs here": lambda p, _: math.log1p(p.context.earlier.jobs if p.context.earlier else 0) / 4,
}
"""Numbers that all candidates share, given what may be run."""
USAGE = tuple(f.name for f in fields(Usage))
PHASES = tuple(f"{f.name} of phases" for f in fields(PhaseSummary))
OWN = tuple(_OWN)
SHARED = (*_SHARED, *(f"{name}{known}" for name in (*USAGE, *PHASES) for known in ("", " known")))
QUEUE = ("wait", "wait known", "free", "free known")
"""Of each candidate, too, but last: what came later stands behind all that was there."""
WIDTH = len(OWN) + len(SHARED) + len(QUEUE)


def schema_of(version: str, *names: str) -> str:
    return hashlib.sha256("\n".join((version, *names)).encode()).hexdigest()[:16]


SCHEMA = schema_of("state 5", *OWN, *SHARED, *QUEUE)
"""Weights and checkpoints name it: another list of features is another network."""
WITHOUT_QUEUE = len(OWN) + len(SHARED)
"""Width of the state before the queue was part of it; the shipped networks give neither that nor phases any weight."""
SCHEMA_WITHOUT_QUEUE = schema_of("state 4", *OWN, *SHARED)
_UNPHASED = tuple(name for name in SHARED if name.removesuffix(" known") not in PHASES)
WITHOUT_PHASES = len(OWN) + len(_UNPHASED)
"""Width of the state before phases were part of it."""
SCHEMA_WITHOUT_PHASES = schema_of("state 3", *OWN, *_UNPHASED)
BOUND = 5.0
"""Features are clipped here; ordinary values lie within 1 or 2."""
SCORED = 7.0
"""Runs: scores of longer horizons are scaled to this one, as a gain of a whole run would else be out of bounds."""
SHORTLIST = 48
"""Candidates that the networks compare; the rest is worse by the belief rule. Bounds the replay and the cost of an update."""
EVERY = slice(None)


def features(problem: Problem, allowed: Bools, rows: "Ints | slice" = EVERY) -> Features:
    """Features of some candidates: what is believed of them, encoded. Shape (n, WIDTH), finite, within -5..5."""
    k, context = len(problem.candidates.values), problem.context
    own = np.column_stack([np.broadcast_to(number_of(problem), k) for number_of in _OWN.values()])[rows]
    parts = (*(getattr(context.usage, name) for name in USAGE), *(getattr(context.phases, f.name) for f in fields(PhaseSummary)))
    masked = (number for value in parts for number in (value or 0.0, value is not None))
    shared = (*(number_of(problem, allowed) for number_of in _SHARED.values()), *masked)
    queue = features_of(context.queue, problem.candidates, problem.belief)[rows]
    every = np.concatenate((own, np.broadcast_to(shared, (len(own), len(shared))), queue), axis=1)  # (n, WIDTH)
    return np.asarray(np.clip(np.nan_to_num(every), -BOUND, BOUND), dtype=np.float32)


def _is(row: int, problem: Problem) -> Bools:
    return np.equal(np.arange(len(problem.candidates.values)), row)


def _scaled_score(acquisition: AcquisitionValues) -> Floats:
    """Where the best would be out of bounds all move up together: which one is the rule's choice must not be lost."""
    scaled = acquisition.score * min(1.0, SCORED / (1 + acquisition.horizon))
    return np.asarray(scaled - min(0.0, float(scaled.min()) + BOUND))


def _log2_batch(candidates: Candidates, incumbent: int) -> Floats:
    if "batch_size" not in candidates.names:
        return np.zeros(len(candidates.values))
    # config.ini may say 0, which is left as it is
    batch = np.maximum(candidates.values[:, candidates.names.index("batch_size")], 1)
    return np.asarray(np.log2(batch / batch[incumbent]))


@dataclass(frozen=True, eq=False, slots=True)
class Observation:
    """Observation of the networks before a run.

    Attributes:
        rows: shape (n,), n at most SHORTLIST, ascending rows of the candidate set.
        features: shape (n, WIDTH).
        allowed: shape (n,), which of them may be run.
    """

    rows: Ints
    features: Features
    allowed: Bools

    def index(self, row: int) -> int:
        """Where a row of the candidate set is in this observation."""
        return int(np.flatnonzero(self.rows == row)[0])


def observe(problem: Problem, allowed: Bools, *always: int) -> Observation:
    """Shortlist and encode: today's row, the incumbent and `always`, then the allowed ones that the belief rule likes best."""
    acquisition = problem.acquisition
    order = np.argsort(acquisition.score, kind="stable")
    liked = order[allowed[order]][:SHORTLIST].tolist()
    first = dict.fromkeys((problem.candidates.current, acquisition.incumbent, *always, *liked))
    rows = np.array(sorted(list(first)[:SHORTLIST]), dtype=np.int64)
    return Observation(rows, features(problem, allowed, rows), allowed[rows])
