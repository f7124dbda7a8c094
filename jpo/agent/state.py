"""State as the networks see it: WIDTH bounded numbers for every candidate: its own, those that all share, and its queue.

Every candidate is scored by the same small network, so the number and meaning of the parameters need not be known to it. What was
not measured, or is not known of the context, has its own flag (`tried`, `horizon known`), so that a zero means zero.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.context import PhaseSummary, Usage
from jpo.agent.safety.queue_ahead import features_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.acquisition import AcquisitionValues
    from jpo.agent.context import Context
    from jpo.agent.problem import Problem
    from jpo.records import Bools, Candidates, Floats, Ints

    Features = NDArray[np.float32]

USAGE = tuple(f.name for f in fields(Usage))
PHASES = tuple(f"{f.name} of phases" for f in fields(PhaseSummary))
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
    "expected regret",
    "runs since it ran",
    "moved since it ran",
    "log expected cost later",
    "gain later",
    "is incumbent later",
    "log expected cost here",
    "mean here",
    "sd here",
    "p fails here",
    "p worse than today here",
    "gain here",
    "belief rule score here",
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
    "horizon",
    "failures so far",
    "interval factor",
    "budget left",
    "explore on",
    "here known",
    "jobs here",
    *(f"{name}{known}" for name in USAGE for known in ("", " known")),
    *(f"{name}{known}" for name in PHASES for known in ("", " known")),
)
QUEUE = ("wait", "wait known", "free", "free known")
"""Of each candidate, too, but last: what came later stands behind all that was there."""
WIDTH = len(OWN) + len(SHARED) + len(QUEUE)
SCHEMA = hashlib.sha256("\n".join(("state 5", *OWN, *SHARED, *QUEUE)).encode()).hexdigest()[:16]
"""Weights and checkpoints name it: another list of features is another network."""
WITHOUT_QUEUE = len(OWN) + len(SHARED)
"""Width of the state before the queue was part of it; the shipped networks give neither that nor phases any weight."""
SCHEMA_WITHOUT_QUEUE = hashlib.sha256("\n".join(("state 4", *OWN, *SHARED)).encode()).hexdigest()[:16]
WITHOUT_PHASES = WITHOUT_QUEUE - 2 * len(PHASES)
"""Width of the state before phases were part of it."""
SCHEMA_WITHOUT_PHASES = hashlib.sha256("\n".join(("state 3", *OWN, *SHARED[: -2 * len(PHASES)])).encode()).hexdigest()[:16]

BOUND = 5.0
"""Features are clipped here; ordinary values lie within 1 or 2."""

SCORED = 7.0
"""Runs: scores of longer horizons are scaled to this one, as a gain of a whole run would else be out of bounds."""

SHORTLIST = 48
"""Candidates that the networks compare; the rest is worse by the belief rule. Bounds the replay and the cost of an update."""
EVERY = slice(None)


def features(problem: Problem, allowed: Bools, rows: Ints | slice = EVERY) -> Features:
    """Features of some candidates: what is believed of them, encoded. Shape (n, WIDTH), finite, within -5..5."""
    own = _own(problem)[rows]
    shared = (*_of_belief(problem), *_of_context(problem, allowed))
    queue = features_of(problem.context.queue, problem.candidates, problem.belief)[rows]
    every = np.concatenate((own, np.broadcast_to(shared, (len(own), len(shared))), queue), axis=1)  # (n, WIDTH)
    return np.asarray(np.clip(np.nan_to_num(every), -BOUND, BOUND), dtype=np.float32)


def _own(problem: Problem) -> Floats:
    """Shape (K, len(OWN)), in the order of OWN."""
    belief, candidates, acquisition, context = problem.belief, problem.candidates, problem.acquisition, problem.context
    row = np.arange(len(candidates.values))
    nothing = np.zeros(len(row))
    later, watch = context.later, context.watch
    return np.column_stack(
        (
            np.log(acquisition.expected),
            acquisition.mean,
            acquisition.sd,
            belief.p_fail,
            acquisition.p_better,
            acquisition.improvement * 4,
            acquisition.p_worse,
            acquisition.p_worse_today,
            acquisition.p_optimum * 4,
            belief.tried,
            np.log1p(belief.runs),
            np.log1p(belief.failures + belief.stopped),
            np.where(belief.runs > 0, acquisition.mean, 0.0),
            row == acquisition.incumbent,
            row == candidates.current,
            _log2_batch(candidates, acquisition.incumbent) / 2,
            candidates.log_rate - candidates.log_rate[acquisition.incumbent],
            _scaled_score(acquisition),
            np.log1p(acquisition.regret),
            nothing if watch.age is None else np.log1p(np.nan_to_num(watch.age)) / 2,
            nothing if watch.moved is None else np.nan_to_num(watch.moved) * 4,
            nothing if later is None else np.log(later.expected),
            nothing if later is None else later.improvement * 4,
            nothing if later is None else row == later.incumbent,
            *_here(context, acquisition, nothing),
        )
    ).astype(np.float64)


def _here(context: Context, acquisition: AcquisitionValues, nothing: Floats) -> tuple[Floats, ...]:
    """Own numbers as the residuals of earlier jobs on this installation would have them, each (K,).

    Without any the score is the belief rule's, the others are 0.
    """
    if context.earlier is None:
        return *(nothing,) * 6, _scaled_score(acquisition)
    here = context.earlier.acquisition
    gain = here.improvement * 4
    return np.log(here.expected), here.mean, here.sd, context.earlier.p_fails, here.p_worse_today, gain, _scaled_score(here)


def _scaled_score(acquisition: AcquisitionValues) -> Floats:
    """Where the best would be out of bounds all move up together: which one is the rule's choice must not be lost."""
    scaled = acquisition.score * min(1.0, SCORED / (1 + acquisition.horizon))
    return np.asarray(scaled - min(0.0, float(scaled.min()) + BOUND))


def _of_belief(problem: Problem) -> tuple[float, ...]:
    """The first half of SHARED: belief and preference."""
    belief, preference, acquisition = problem.belief, problem.comparison.preference, problem.acquisition
    can = problem.candidates.admissible
    return (
        float(np.log1p((belief.runs + belief.failures + belief.stopped).sum()) / 2),
        preference.time,
        preference.cost,
        preference.efficiency,
        float(np.log10(max(belief.effective_share, 1e-3)) / 3 + 1),
        float(np.min(acquisition.mean[can])),
        float(np.mean(belief.tried[can])),
        float(np.max(acquisition.improvement[can]) * 4),
        float(acquisition.p_optimum[acquisition.incumbent]),
        belief.noise * 4,
        belief.val_loss is not None,
        float(np.log(can.sum()) / 4),
        preference.loss,
    )


def _of_context(problem: Problem, allowed: Bools) -> tuple[float, ...]:
    """The second half of SHARED: what is left, what changes, and how well the last forecasts were met."""
    context = problem.context
    left, slack, miss = context.runs_left, context.budget_slack, context.watch.last_miss
    return (
        float(np.log1p(problem.acquisition.regret[problem.acquisition.incumbent])),
        float(allowed.sum() / problem.candidates.admissible.sum()),
        left is not None,
        0.0 if left is None else float(np.log1p(left) / 2),
        0.0 if left is None else 1 / (1 + left),
        slack is not None,
        0.0 if slack is None else slack,
        context.later is not None,
        context.share_later,
        context.watch.age is not None,
        miss is not None,
        0.0 if miss is None else miss / 2,
        context.watch.surprise,
        math.log(1 + context.horizon) / 4,
        float(np.log1p((problem.belief.failures + problem.belief.stopped).sum()) / 2),
        problem.comparison.calibration.interval_factor - 1,
        problem.leeway.budget_left / 2,
        problem.boldness.explore == "on",
        context.earlier is not None,
        math.log1p(context.earlier.jobs if context.earlier else 0) / 4,
        *(number for name in USAGE for number in _masked(getattr(context.usage, name))),
        *(number for field in fields(PhaseSummary) for number in _masked(getattr(context.phases, field.name))),
    )


def _masked(value: float | None) -> tuple[float, bool]:
    """A number that may be absent, and whether it is there."""
    return (0.0, False) if value is None else (value, True)


def _log2_batch(candidates: Candidates, incumbent: int) -> Floats:
    if "batch_size" not in candidates.names:
        return np.zeros(len(candidates.values))
    batch = np.maximum(
        candidates.values[:, candidates.names.index("batch_size")], 1
    )  # config.ini may say 0, which is left as it is
    doublings: Floats = np.log2(batch / batch[incumbent])
    return doublings


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
