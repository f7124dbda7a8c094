"""Practice: simulated jobs on which the agent learns, and which it is tested on.

Simulator, forecast and agent meet here as in `advise`, only that the runs are simulated too: the agent sees what telemetry
would bring, through the same belief, state and safety screen, and the simulator knows what the best choice would have cost.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jpo.agent.acquisition import AcquisitionValues
from jpo.agent.budget import Leeway, budget_left
from jpo.agent.change_detection import forecast_error
from jpo.agent.comparison import Comparison
from jpo.agent.context import ChangeWatch, Context, EarlierJobs, Usage, log_ratio, watched
from jpo.agent.decide import by_rule
from jpo.agent.horizon import UNTOLD
from jpo.agent.policy import Policy
from jpo.agent.problem import Problem
from jpo.agent.state import Observation, observe
from jpo.forecast.belief import posterior
from jpo.learning.job import Job, execute

BOUND = 4.0
"""Optima which a run counts at most where costs are compared: one ruinous job would outweigh a hundred others."""


@dataclass(eq=False)
class DecisionPoint:
    """Decision point of a simulated job: what is known before a run, and the same as the networks see it."""

    problem: Problem
    job: Job

    @cached_property
    def context(self) -> Context:
        """What a policy is shown besides the problem, with what earlier jobs of the installation say of the candidates."""
        job, problem = self.job, self.problem
        if job.installation is None or problem.context.earlier is not None:
            return problem.context
        belief = posterior(job.draws_here, problem.candidates, job.runs)
        here = replace(problem.comparison, belief=belief).weighed.within(problem.context.horizon)
        return replace(problem.context, earlier=EarlierJobs(here, belief.p_fail, job.installation.jobs))

    @property
    def here(self) -> AcquisitionValues | None:
        """Acquisition values as earlier jobs of the installation have them."""
        return self.context.earlier.acquisition if self.context.earlier else None

    @cached_property
    def observation(self) -> Observation:
        """What a policy sees; the belief rule needs none of it."""
        return self.observing()

    def observing(self, *always: int) -> Observation:
        """The same with some rows in any case."""
        problem = replace(self.problem, context=self.context)
        return observe(problem, problem.allowed, *always)


Choose = Callable[[DecisionPoint], int]
"""Answers with a row of the candidates."""


def begin(job: Job) -> DecisionPoint:
    """Run today's configuration until it has ended well, which is the reference: what is done before is no policy's choice."""
    while not job.runs or (not job.runs[-1].ended_well and len(job.runs) < job.script.runs - 1):
        execute(job, job.candidates.current, job.candidates.current)
    return decision_point(job)


def step(job: Job, point: DecisionPoint, row: int) -> DecisionPoint:
    """Run a row, which becomes today's; what is known afterwards."""
    execute(job, row, point.problem.acquisition.incumbent)
    job.last_miss = forecast_error(point.problem.belief, row, job.runs[-1])
    job.chart = job.chart.after(job.last_miss)
    return decision_point(job)


def play(job: Job, choose: Choose) -> None:
    """Play a job to its script's end; what happened is in the job."""
    point = begin(job)
    while len(job.runs) < job.script.runs:
        point = step(job, point, choose(point))


def decision_point(job: Job) -> DecisionPoint:
    """Decision point before the next run, when config.ini holds what ran last."""
    run, row = job.next_run, job.rows[-1]
    candidates = replace(job.candidates, current=row, log_rate=job.script.log_rate[run])
    belief, reference = posterior(job.draws, candidates, job.runs), job.candidates.current  # config.ini moves along, it does not
    comparison = Comparison(candidates, belief, job.script.preferences[run], reference)
    problem = Problem(comparison, job.boldness, Leeway(budget_left(job.against_keeping)))
    return DecisionPoint(replace(problem, context=_context(job, problem)), job)


def _context(job: Job, problem: Problem) -> Context:
    """What the user said, and how well the forecasts were met."""
    script, run = job.script, job.next_run
    left = script.runs - 1 - run if script.horizon_known else None
    later, share = _later(job, problem)
    slack = None
    if script.budget is not None and left is not None:
        ran = [job.spent[i] for i, at in enumerate(job.rows) if at == problem.acquisition.incumbent] or [1.0]
        affordable = (script.budget - sum(job.spent[1:])) / ((left + 1) * float(np.mean(ran)))
        slack = math.log(min(max(affordable, 0.05), 20.0))
    context = Context(left, slack, later, share, runs_done=run, usage=_usage(job))
    if not job.watched:
        return context
    context = replace(context, watch=ChangeWatch(last_miss=job.last_miss, surprise=job.chart.surprise))
    return watched(context, problem.belief, job.rows, job.runs)


def _usage(job: Job) -> Usage:
    """Usage of the last run that ended well. What is not simulated means nothing, as a policy must learn: any value, or none."""
    rng = np.random.default_rng((len(job.runs), int(1e6 * job.noise), len(job.candidates.values)))
    ended = [run.outcome for run in job.runs if run.ended_well]
    if not ended:
        return Usage()
    cpu, memory, throughput, samples, slack = (
        float(value) if there else None for value, there in zip(rng.random(5), rng.random(5) < 0.5, strict=True)
    )
    return Usage(
        ended[-1].gpu_utilisation, cpu, memory, throughput, log_ratio(ended[-1].val_loss, ended[0].val_loss), samples, slack
    )


def _later(job: Job, problem: Problem) -> tuple[AcquisitionValues | None, float]:
    """Acquisition values under the other of two conditions, and the share of the coming runs that are expected to have it."""
    script, run, belief, candidates = job.script, job.next_run, problem.belief, problem.candidates
    if script.later is None or run >= script.later > 0:
        return None, 0.0
    if script.later:
        moved = belief.log_cost + (script.log_rate[script.later] - candidates.log_rate)
        preference, share = script.preferences[run], max(0.0, 1 - (script.later - run - 1) / UNTOLD)
        priced = replace(candidates, log_rate=script.log_rate[script.later])
        moment = replace(problem.comparison, candidates=priced, belief=replace(belief, log_cost=moved), preference=preference)
        return moment.weighed, share
    other = next(
        (preference for preference in script.preferences if preference != script.preferences[run]), script.preferences[run]
    )
    return replace(problem.comparison, preference=other).weighed, 0.5


def by_belief_rule(point: DecisionPoint) -> int:
    """The belief rule, which knows the present preference and prices and how many runs follow, if that is known."""
    return by_rule(point.problem, point.problem.allowed)


def by_policy(policy: Policy, point: DecisionPoint, rng: np.random.Generator | None = None) -> int:
    """The policy's favourite; drawn only to practise (`rng`)."""
    seen = point.observation
    return int(seen.rows[policy.pick(seen.features, seen.allowed, rng)])


def mean_cost(job: Job) -> float:
    """Mean cost per run of a job that was played, in multiples of the optimum's, no run counting more than BOUND of them."""
    return float(np.mean(np.minimum(job.costs, BOUND)))
