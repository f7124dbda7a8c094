"""What earlier jobs of the installation say of a workload: their residuals against simulated jobs, and the belief they bend."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median_low

import numpy as np

from jpo.agent.candidate_rows import rows_of_run
from jpo.agent.context import EarlierJobs
from jpo.agent.policy_override import MORE_AND_LESS
from jpo.agent.problem import Problem
from jpo.agent.residuals import bent, joined, residual_forecast, residuals_of_job
from jpo.agent.safety.risk import WORSE
from jpo.forecast.belief import posterior
from jpo.optimizer.prior import FEW
from jpo.records import PARAMETERS, Belief, Candidates, Note, Residuals, Run, RunStatus
from jpo.records.runs import by_workload
from jpo.simulate import Latents, jobs_of
from jpo.wording import numbers

Move = tuple[tuple[str, int], ...]
"""Parameters, each with 1 where it became larger, else -1."""
SEED = 0
"""Equal runs say the same in every store and process."""


def residuals_of_runs(runs: Sequence[Run]) -> Residuals | None:
    """Residuals of one workload's runs, oldest first; None where they say nothing."""
    first = next((run for run in runs if run.ended_well and run.outcome.duration_seconds), None)
    if first is None:
        return None
    names = tuple(name for name in PARAMETERS if name in first.parameters)
    rows = dict.fromkeys(tuple({**first.parameters, **run.parameters}[name] for name in names) for run in (first, *runs))
    values = np.array(list(rows), dtype=np.float64).reshape(len(rows), len(names))
    if len(values) < 2:
        return None
    ran = Candidates(names, values, 0, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))
    prior = posterior(jobs_of(ran, Latents(FEW, SEED)), ran, ())
    return residuals_of_job(str(first.identity), ran, prior, runs)


def residuals_of_workloads(runs: Sequence[Run]) -> Residuals | None:
    """Residuals of several workloads' runs, oldest first; None where they say nothing."""
    return joined(map(residuals_of_runs, by_workload(runs).values()))


def belief_here(candidates: Candidates, runs: Sequence[Run], residuals: Residuals) -> Belief:
    """Belief after the runs, from simulated jobs as they would be on this installation.

    `runs`: of the workload, oldest first; the first that ended well is what earlier jobs are measured against.
    """
    first = next((run for run in runs if run.ended_well), None)
    rows = None if first is None else rows_of_run(candidates, first)
    reference = candidates.current if rows is None or not rows.size else int(rows[0])
    as_then = replace(candidates, current=reference)
    draws = bent(jobs_of(as_then, Latents(FEW, SEED)), residual_forecast(residuals, as_then), SEED)
    return posterior(draws, candidates, runs)


def with_earlier_jobs(problem: Problem, runs: Sequence[Run], residuals: Residuals) -> Problem:
    """The problem with what earlier jobs of the installation say of its candidates."""
    belief = belief_here(problem.candidates, runs, residuals)
    here = replace(problem.comparison, belief=belief).weighed.within(problem.context.horizon)
    jobs = len(set(residuals.job.tolist()))
    return replace(problem, context=replace(problem.context, earlier=EarlierJobs(here, belief.p_fail, jobs)))


def lesson(others: Sequence[Run], runs: Sequence[Run]) -> Note | None:
    """What several other jobs here paid for a move that this one has not made; None: nothing that was dear."""
    shown: dict[Move, list[float]] = {}
    for job in by_workload(others).values():
        for move, dearer in _moves(job).items() if len(job) > 1 else ():
            shown.setdefault(move, []).append(dearer)
    own = _moves(runs)
    dear = {move: each for move, each in shown.items() if move not in own and len(each) > 1 and median_low(each) > WORSE}
    if not dear:
        return None
    move = max(dear, key=lambda move: (len(dear[move]), median_low(dear[move])))
    dearer, words = median_low(dear[move]), " and ".join(MORE_AND_LESS[name][int(way < 0)] for name, way in move)
    came = "failed" if math.isinf(dearer) else f"took {numbers.percent_in_words(math.expm1(dearer))} longer"
    return Note("JPO-I675", f"on {len(dear[move])} other jobs here {words} {came}")


def _moves(job: Sequence[Run]) -> dict[Move, float]:
    """By what a job moved against its first run, how much ln of the duration grew; infinite where it failed."""
    found: dict[Move, list[float]] = {}
    firsts = [(run.parameters, run.outcome.duration_seconds) for run in job if run.ended_well and run.outcome.duration_seconds]
    was, before = firsts[0] if firsts else ({}, 1.0)
    for run in job if firsts else ():
        seconds = run.outcome.duration_seconds if run.ended_well else math.inf
        moved = [(name, value - was.get(name, value)) for name, value in run.parameters.items() if value != was.get(name)]
        if moved and seconds and run.status is not RunStatus.STOPPED and all(name in MORE_AND_LESS and by for name, by in moved):
            move = tuple((name, 1 if by > 0 else -1) for name, by in sorted(moved))
            found.setdefault(move, []).append(math.log(seconds / before))
    return {move: median_low(each) for move, each in found.items()}
