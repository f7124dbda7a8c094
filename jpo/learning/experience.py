"""The history as experience: each recorded run becomes the transition which the agent would have seen.

State: what was believed before the run; action: what was executed, whoever chose it; reward: what came of it against the first
run that ended well. The same runs in the same order give the same transitions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.budget import BUDGET
from jpo.agent.change_detection import forecast_error
from jpo.agent.context import UNKNOWN, watched
from jpo.agent.problem import Problem, may_try
from jpo.agent.reward import failed_like, objective, reward_vector
from jpo.agent.rows import rate_between, row_of_run
from jpo.agent.sac.replay_buffer import Transition
from jpo.agent.state import Observation, observe
from jpo.cost.sla import missed
from jpo.optimizer.candidates import collect
from jpo.optimizer.prior import believe, prior_of
from jpo.optimizer.request import Request
from jpo.records import Candidates, Run

if TYPE_CHECKING:
    from jpo.records import Belief, Floats


def learnable(runs: Sequence[Run]) -> Sequence[Run]:
    """The first run that ended well, which is the reference, and all that came after it."""
    first = next((i for i, run in enumerate(runs) if run.ended_well and run.outcome.duration_seconds), len(runs))
    return runs[first:]


def fingerprint(runs: Sequence[Run], request: Request, learnt: int) -> str:
    """Digest of reference, next `learnt` runs, preference and promises: an agent that learnt from other ones must begin anew.

    Runs that are reported late or gain measurements change what came before; the history is the truth, the agent a cache.
    """
    told = repr((request.preference, learnable(runs)[: learnt + 1], *sorted(request.targets.items())))
    return hashlib.sha256(told.encode()).hexdigest()


def transitions(runs: Sequence[Run], request: Request, *, seed: int, first: int) -> Iterator[Transition | None]:
    """Every run after the reference, from number `first` on; None for one that says nothing under the preference."""
    known = learnable(runs)
    before = len(runs) - len(known)
    for i in range(before + 1 + first, len(runs)):
        yield transition(runs[: i + 1], known[0], request, seed)


def transition(runs: Sequence[Run], reference: Run, request: Request, seed: int) -> Transition | None:
    """The last of these runs, with what was believed before and after it. What a run did not report had the value before it."""
    *earlier, run = runs
    today = {**reference.parameters, **earlier[-1].parameters}
    candidates = collect(replace(request, current=today), runs)
    prior = prior_of(candidates, seed)
    vectors = vectors_of(runs[runs.index(reference) :], reference, candidates, request)
    objectives = [float(objective(vector, request.preference)) for vector in vectors]
    if not np.isfinite(objectives[-1]):
        return None

    def observed(known: Sequence[Run], current: int, *always: int) -> tuple[Belief, Observation]:
        belief = believe(prior, candidates, known)
        problem = Problem(
            replace(candidates, current=current),
            belief,
            request.preference,
            reference=None,
            interval_factor=1.0,
            explore=request.explore,
            confidence=request.confidence,
            budget_left=BUDGET,
            context=watched(UNKNOWN, belief, [row_of_run(candidates, one) for one in known], known),
        )
        return belief, observe(problem, may_try(problem), *always)

    executed = row_of_run(candidates, run)
    (belief, before), (_, after) = observed(earlier, candidates.current, executed), observed(runs, executed)
    best, miss = float(np.nanmin(objectives)), forecast_error(belief, executed, run)
    return Transition(before, before.index(executed), vectors[-1], request.preference, best, after, miss=miss)


def vectors_of(runs: Sequence[Run], reference: Run, candidates: Candidates, request: Request) -> list[Floats]:
    """What each run was worth against the reference; one that failed counts like the best before it, charged.

    A run that broke promises of the SLA carries by how much, whatever it was worth otherwise.
    """
    vectors: list[Floats] = []
    best, least, today = None, np.inf, candidates.parameters(candidates.current)
    for run in runs:
        if run.ended_well:
            vector = reward_vector(run, reference, rate_between(candidates, run, reference))
        else:
            assert best is not None, "the reference ended well"
            vector = failed_like(np.nan_to_num(best))
        vectors.append(np.add(vector, (0, 0, 0, 0, 0, missed(request.targets, run.completed(today), request.prices))))
        worth = float(np.nan_to_num(objective(vector, request.preference), nan=np.inf))
        if best is None or worth < least:
            best, least = vector, worth
    return vectors
