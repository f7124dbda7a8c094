"""Decision problem of a workload, from candidates, belief, request and history: the same for the decision, for its explanation
and for what the agent learns from it. Practice (learning/practice.py) draws its jobs, and puts its problems together itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from jpo.agent.budget import compared_costs, reference_values, replenished_budget
from jpo.agent.context import UNKNOWN, Context, watched
from jpo.agent.problem import Problem
from jpo.agent.rows import row_of_run, rows_of, rows_of_run
from jpo.agent.safety.holds import Hold, held, holds_of, of_loss
from jpo.optimizer.request import Request
from jpo.records import Belief, Candidates, Known, Parameters, Run, same

WATCHED = 100
"""Last runs that a policy is shown, each candidate's age and how it moved."""


def problem_of(
    candidates: Candidates,
    belief: Belief,
    request: Request,
    known: Known,
    *,
    interval_factor: float = 1.0,
    loss_interval_factor: float = 1.0,
) -> Problem:
    """Decision problem after these runs; what is held for good is not admissible in it."""
    rates = candidates.log_rate
    costs = compared_costs(
        known.followed_up, known.runs, request.preference, lambda run: float(rates[row_of_run(candidates, run)])
    )
    reference = reference_row(candidates, known.followed_up)
    floor = None if any(run.outcome.converged for run in known.runs) else request.quality_floor
    holds = (
        *holds_of(candidates, known.runs, request.named),
        *of_loss(candidates, belief, reference, floor, loss_interval_factor),
    )
    return Problem(
        without(candidates, holds),
        belief,
        request.preference,
        reference=reference,
        interval_factor=interval_factor,
        explore=request.explore,
        confidence=request.confidence,
        budget_left=replenished_budget(costs),
        context=context_of(candidates, belief, known.runs),
        exploration_runs_left=int(request.explore == "on" and request.tries),
        holds=holds,
        quality_floor=floor,
        min_confidence=request.min_confidence,
        loss_interval_factor=loss_interval_factor,
        repeated=repeated(request.current, known.runs),
    )


def without(candidates: Candidates, holds: Sequence[Hold]) -> Candidates:
    """The candidates without those that are held for good; all of them where none would be left."""
    admissible = candidates.admissible & ~held(holds, lasting=True)
    return replace(candidates, admissible=admissible) if admissible.any() else candidates


def repeated(current: Parameters, runs: Sequence[Run]) -> int:
    """How many of the newest runs had today's values, until one had others."""
    return sum(1 for _ in takewhile(lambda run: same(run.parameters, current), reversed(runs)))


def reference_row(candidates: Candidates, followed_up: Sequence[tuple[Run, Parameters]]) -> int | None:
    """Row of the values before the agent's first change; None where they are no candidate, and cannot be compared with."""
    today = candidates.parameters(candidates.current)
    rows = rows_of(candidates, {**today, **reference_values(followed_up, today)})
    return int(rows[0]) if rows.size else None


def context_of(candidates: Candidates, belief: Belief, runs: Sequence[Run]) -> Context:
    """Context of the next run: what the last runs say of change, for a policy that reads it."""
    placed = [(int(rows[0]), run) for run in runs[-WATCHED:] if (rows := rows_of_run(candidates, run)).size]
    return watched(UNKNOWN, belief, [row for row, _ in placed], [run for _, run in placed])
