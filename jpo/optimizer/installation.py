"""What earlier jobs of the installation say of a workload: their residuals against simulated jobs, and the belief they bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jpo.agent.candidate_rows import rows_of_run
from jpo.agent.context import EarlierJobs
from jpo.agent.problem import Problem
from jpo.agent.residuals import bent, joined, residual_forecast, residuals_of_job
from jpo.forecast import posterior
from jpo.optimizer.prior import FEW
from jpo.records import PARAMETERS, Belief, Candidates, Identity, Residuals, Run
from jpo.simulate import Latents, jobs_of

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
    by_workload: dict[Identity, list[Run]] = {}
    for run in runs:
        by_workload.setdefault(run.identity, []).append(run)
    parts = [part for several in by_workload.values() if (part := residuals_of_runs(several)) is not None]
    return joined(parts) if parts else None


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
