"""Decision problem of a workload, from candidates, belief, request and history: the same for the decision, for its explanation
and for what the agent learns from it. Practice (learning/practice.py) draws its jobs, and puts its problems together itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from jpo.agent.budget import budget_left, reference_values, relative_costs
from jpo.agent.context import UNKNOWN, Context, watched
from jpo.agent.problem import Problem
from jpo.agent.rows import row_of_run, rows_of, rows_of_run
from jpo.optimizer.candidates import weighed_runs
from jpo.optimizer.request import Request
from jpo.records import Belief, Candidates, Known, Parameters, Run

WATCHED = 100
"""Last runs that a policy is shown, each candidate's age and how it moved."""


def problem_of(
    candidates: Candidates, belief: Belief, request: Request, known: Known, *, interval_factor: float = 1.0
) -> Problem:
    """Decision problem after these runs."""
    rates = candidates.log_rate
    runs = weighed_runs(known.runs, request.current)
    followed_up = [pair for pair in known.followed_up if pair[0] in runs]
    costs = relative_costs(followed_up, runs, request.preference, lambda run: float(rates[row_of_run(candidates, run)]))
    return Problem(
        candidates,
        belief,
        request.preference,
        reference=reference_row(candidates, known.followed_up),
        interval_factor=interval_factor,
        explore=request.explore,
        confidence=request.confidence,
        budget=request.budget,
        budget_left=budget_left(costs, request.budget),
        exploration_runs_left=exploration_runs_left(request, known.runs),
        context=context_of(candidates, belief, known.runs, request.horizon_runs),
    )


def reference_row(candidates: Candidates, followed_up: Sequence[tuple[Run, Parameters]]) -> int | None:
    """Row of the values before the agent's first change; None where they are no candidate, and cannot be compared with."""
    today = candidates.parameters(candidates.current)
    rows = rows_of(candidates, {**today, **reference_values(followed_up, today)})
    return int(rows[0]) if rows.size else None


def exploration_runs_left(request: Request, runs: Sequence[Run]) -> int:
    """How many configurations are still to be tried, by the user's word."""
    return max(0, request.exploration_runs - tries(runs, request.free)) if request.exploration_runs else 0


def tries(runs: Sequence[Run], free: Collection[str]) -> int:
    """How many configurations were tried besides the first, whoever chose them and however it ended."""
    names = sorted(free)
    return max(0, len({tuple(run.parameters.get(name) for name in names) for run in runs}) - 1)


def context_of(candidates: Candidates, belief: Belief, runs: Sequence[Run], horizon_runs: int | None = None) -> Context:
    """Context of the next run: how many follow, and what the last runs say of change, for a policy that reads it."""
    first = takewhile(lambda run: run.parameters == runs[0].parameters, runs)
    done = len(runs) - max(0, sum(1 for _ in first) - 1)  # all that is known of the reference counts as one run
    left = horizon_runs - len(runs) - 1 if horizon_runs and horizon_runs > len(runs) else None
    told = replace(UNKNOWN, runs_done=done, runs_left=left, scenarios=() if left is None else ("horizon",))
    placed = [(int(rows[0]), run) for run in runs[-WATCHED:] if (rows := rows_of_run(candidates, run)).size]
    return watched(told, belief, [row for row, _ in placed], [run for _, run in placed])
