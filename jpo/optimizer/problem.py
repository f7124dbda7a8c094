"""Decision problem of a workload, from candidates, belief, request and history: the same for the decision, for its explanation
and for what the agent learns from it. Practice (learning/practice.py) draws its jobs, and puts its problems together itself.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from jpo.agent.budget import Leeway, budget_left, compared_costs, reference_values, replenished_budget, trials_earned
from jpo.agent.candidate_rows import base_row, rows_of, rows_of_runs
from jpo.agent.comparison import Comparison
from jpo.agent.context import UNKNOWN, Context, PhaseSummary, Usage, after_misses, log_ratio, watched
from jpo.agent.problem import Problem
from jpo.agent.safety.distances import trial_vetoes
from jpo.agent.safety.promise import Promise, promise_of
from jpo.agent.safety.queue_waits import queue_vetoes
from jpo.agent.safety.vetoes import Veto, failing_vetoes, held, loss_vetoes, phase_vetoes, unmeasured_vetoes, vetoes
from jpo.cost.sla import slack
from jpo.forecast.calibration import RUNS_REMEMBERED
from jpo.forecast.evidence.work import samples_of
from jpo.optimizer.candidates import weighed_runs
from jpo.optimizer.installation import with_earlier_jobs
from jpo.optimizer.request import Request
from jpo.optimizer.search import search_values
from jpo.optimizer.sla import promised
from jpo.records import CALIBRATED, Belief, Bools, Calibration, Candidates, Known, Parameters, PhaseNeeds, Run


def problem_of(
    candidates: Candidates, belief: Belief, request: Request, known: Known, calibration: Calibration = CALIBRATED
) -> Problem:
    """Decision problem after these runs; what is held for good is not admissible in it."""
    quality, beliefs = belief.quality, (belief, *belief.besides)
    runs = quality.judged(weighed_runs(known.runs, request.current, quality))
    reference = reference_row(candidates, known.followed_up)
    left = spare(candidates, runs, request, [(quality.judged([run])[0], before) for run, before in known.followed_up])
    deadline = request.wanted.targets.get("time_max") if request.wanted.done_by else None
    lasting = (
        *failing_vetoes(candidates, belief),
        *vetoes(candidates, runs, request.allowed.bounded),
        *phase_vetoes(candidates, known.phase_needs),
        *queue_vetoes(candidates, belief, request.queue, deadline),
    )
    usable = open_to_all = without(candidates, lasting)
    base, factor = base_row(candidates, reference), calibration.loss_interval_factor
    bounds = [(each, bound) for each in beliefs if (bound := promised(each, request.wanted.targets))]
    asked = bounds if request.boldness.explore != "off" else []
    broken = (promise_of(usable, each, base, limit, factor, target=name) for each, (name, limit) in asked)
    promise = next(filter(None, broken), None)  # the first that today's values break
    if promise:
        least = request.boldness.min_confidence if request.boldness.explore == "safe" else 0.0
        usable = loss_first(usable, promise, least, measured=belief.tried if left < 0 else None)
    # the promise, or a target of the job's own, which every run that ended well has met, takes the floor's place
    instead = usable is not open_to_all or any(run.outcome.converged for run in runs)
    floor, risk = None if instead else request.wanted.quality_floor, request.wanted.quality_risk
    low: list[Veto] = []
    for each in beliefs:
        if each is belief or promised(each, request.wanted.targets):
            low += loss_vetoes(candidates, each, reference, floor, factor, quality_risk=risk)
    if request.wanted.quality_floor is not None and known.runs and known.runs[-1].tells_no_quality:
        low += unmeasured_vetoes(candidates, belief, reference)
    usable, holds = without(usable, low), (*lasting, *low)
    context = replace(
        context_of(candidates, belief, quality.judged(known.runs), request.horizon_runs),
        usage=usage_of(known.runs, request),
        phases=phases_of(known.phase_needs),
        nightly=request.boldness.nightly,
        queue=request.queue,
    )
    trial = request.boldness.fallback is not None or bool(known.last and belief.stopped[candidates.current])
    leeway = Leeway(
        left,
        exploration_runs_left(request, known.runs),
        trials_earned(len(known.runs), request.boldness.trials) if request.boldness.nightly else math.inf,
        known.trials,
        unproven=trial and not belief.runs[candidates.current],
    )
    comparison = Comparison(usable, belief, request.wanted.preference, reference, calibration, floor, promise)
    search = search_values(comparison, runs, request.horizon_runs) if request.boldness.goal == "search" else None
    problem = Problem(comparison, request.boldness, leeway, after_misses(context, calibration.misses), holds, search)
    if problem.counts_runs or (leeway.exploration_runs_left and request.boldness.exploration_runs):
        best = problem.acquisition.incumbent
        trials = trial_vetoes(candidates, belief, problem.open_rows, best, request.allowed.admissible)
        problem = replace(problem, holds=(*holds, *trials))
    return problem if known.residuals is None else with_earlier_jobs(problem, runs, known.residuals)


def spare(candidates: Candidates, runs: Sequence[Run], request: Request, followed_up: Sequence[tuple[Run, Parameters]]) -> float:
    """What exploring may still cost, in runs of today's configuration, after the runs that followed suggestions."""
    rows = zip(runs, rows_of_runs(candidates, runs), strict=True)
    rates = {run.run_id: float(candidates.log_rate[row]) for run, row in rows if row >= 0}
    followed_up = [(run, before) for run, before in followed_up if run.run_id in rates]
    costs = compared_costs(followed_up, runs, request.wanted.preference, lambda run: rates[run.run_id])
    if request.boldness.nightly:
        return replenished_budget(costs, request.boldness.budget)
    return budget_left([cost for cost, _ in costs], request.boldness.budget)


def without(candidates: Candidates, holds: Sequence[Veto]) -> Candidates:
    """The candidates without those that are held for good; all of them where none would be left."""
    admissible = candidates.admissible & ~held(holds, lasting=True)
    unchanged = (admissible == candidates.admissible).all() or not admissible.any()
    return candidates if unchanged else replace(candidates, admissible=admissible)


def loss_first(candidates: Candidates, promise: Promise, min_confidence: float, *, measured: "Bools | None" = None) -> Candidates:
    """The candidates that lower a promised loss with enough confidence, if any does; else those that do not raise it, today's
    among them, and those of which a trial may show that they lower it. Where other targets leave none of these: all.
    `measured`: rows that were run, where nothing else may be run now.
    """
    first = promise.first(min_confidence) & (True if measured is None else measured)
    rest = promise.no_worse | promise.lowering | (np.arange(len(first)) == candidates.current)
    left = (candidates.admissible & rows for rows in (first, rest))
    return replace(candidates, admissible=next((rows for rows in left if rows.any()), candidates.admissible))


def reference_row(candidates: Candidates, followed_up: Sequence[tuple[Run, Parameters]]) -> int | None:
    """Row of the values before the agent's first change; None where they are no candidate, and cannot be compared with."""
    today = candidates.parameters(candidates.current)
    rows = rows_of(candidates, {**today, **reference_values(followed_up, today)})
    return int(rows[0]) if rows.size else None


def exploration_runs_left(request: Request, runs: Sequence[Run]) -> int:
    """How many configurations are still to be tried, by the user's word."""
    if request.boldness.goal == "search":
        return 0
    asked = int(request.boldness.nightly and request.boldness.explore == "on" and request.horizon_runs is None)
    return (
        max(asked, request.boldness.exploration_runs - tries(runs, request.allowed.free))
        if request.boldness.exploration_runs
        else asked
    )


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
    watch = runs[-RUNS_REMEMBERED:]
    placed = [(row, run) for row, run in zip(rows_of_runs(candidates, watch).tolist(), watch, strict=True) if row >= 0]
    return watched(told, belief, [row for row, _ in placed], [run for _, run in placed])


def usage_of(runs: Sequence[Run], request: Request) -> Usage:
    """Usage of the last run that ended well, against the first."""
    ended = [run for run in runs if run.ended_well]
    if not ended:
        return Usage()
    first, last, quality = ended[0].outcome, ended[-1].outcome, request.wanted.quality
    was, now = (quality.error_of(outcome.of(quality.name)) for outcome in (first, last))
    asked = ended[-1].completed(request.current).parameters.get("memory_gib")
    return Usage(
        last.gpu_utilisation,
        last.cpu_utilisation,
        last.memory_gib / asked if last.memory_gib is not None and asked else None,
        log_ratio(last.throughput_samples_per_second, first.throughput_samples_per_second),
        log_ratio(now, was),
        log_ratio(samples_of(ended[-1]), samples_of(ended[0])),
        slack(request.wanted.targets, ended[-1], request.prices),
    )


def phases_of(needs: PhaseNeeds | None) -> PhaseSummary:
    """Phases of the last runs, as far as they were measured."""
    if needs is None:
        return PhaseSummary()
    return PhaseSummary(math.log(needs.phases), math.log(needs.stay_share), math.log(needs.peak_to_mean), needs.drifted)
