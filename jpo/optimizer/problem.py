"""Decision problem of a workload, from candidates, belief, request and history: the same for the decision, for its explanation
and for what the agent learns from it. Practice (learning/practice.py) draws its jobs, and puts its problems together itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from jpo.agent.budget import budget_left, reference_values, relative_costs
from jpo.agent.context import NOT_MEASURED, UNKNOWN, Context, Usage, log_ratio, watched
from jpo.agent.problem import Problem
from jpo.agent.rows import row_of_run, rows_of, rows_of_run
from jpo.cost.sla import slack
from jpo.optimizer.candidates import weighed_runs
from jpo.optimizer.installation import belief_here
from jpo.optimizer.request import Request
from jpo.records import Belief, Candidates, Known, Outcome, Parameters, Residuals, Run

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
    problem = Problem(
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
        context=replace(context_of(candidates, belief, known.runs, request.horizon_runs), usage=usage_of(known.runs, request)),
    )
    return problem if known.residuals is None else with_earlier_jobs(problem, runs, known.residuals)


def with_earlier_jobs(problem: Problem, runs: Sequence[Run], residuals: Residuals) -> Problem:
    """The problem with what earlier jobs of the installation say of its candidates."""
    belief = belief_here(problem.candidates, runs, residuals)
    here = replace(problem, belief=belief).weighed.within(problem.context.horizon)
    jobs = len(set(residuals.job.tolist()))
    return problem.under(context=replace(problem.context, here=here, p_fails_here=belief.p_fail, jobs_here=jobs))


def usage_of(runs: Sequence[Run], request: Request) -> Usage:
    """Usage of the last run that ended well, against the first."""
    ended = [run for run in runs if run.ended_well]
    if not ended:
        return NOT_MEASURED
    first, last = ended[0].outcome, ended[-1].outcome
    asked = ended[-1].completed(request.current).parameters.get("memory_gib")
    return Usage(
        last.gpu_utilisation,
        last.cpu_utilisation,
        last.memory_gib / asked if last.memory_gib is not None and asked else None,
        log_ratio(last.throughput_samples_per_second, first.throughput_samples_per_second),
        log_ratio(last.val_loss, first.val_loss),
        log_ratio(_samples(last), _samples(first)),
        slack(request.targets, ended[-1], request.prices),
    )


def _samples(outcome: Outcome) -> float | None:
    """Samples of a run, counted or from its speed."""
    if outcome.samples is not None or outcome.duration_seconds is None or outcome.throughput_samples_per_second is None:
        return outcome.samples
    return outcome.duration_seconds * outcome.throughput_samples_per_second


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
