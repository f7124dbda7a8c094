"""Practice: simulated jobs on which the agent learns, and which it is tested on.

Simulator, forecast and agent meet here as in `advise`, only that the runs are simulated too: the agent sees what telemetry
would bring, through the same belief, state and safety screen, and the simulator knows what the best choice would have cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import AcquisitionValues
from jpo.agent.budget import budget_left
from jpo.agent.change_detection import forecast_error
from jpo.agent.context import Context, watched
from jpo.agent.decide import by_rule
from jpo.agent.horizon import UNTOLD
from jpo.agent.problem import Problem
from jpo.agent.sac.replay_buffer import Transition
from jpo.agent.state import Observation, observe
from jpo.forecast import posterior
from jpo.learning.job import Job, execute, new_job
from jpo.records import Preference

if TYPE_CHECKING:
    from jpo.agent.policy import Policy

Track = Callable[[Sequence[int], str], Iterable[int]]
"""Goes through numbers and shows how far it is: `track(range(10), "practice")`."""

ANYTHING = 0.1
"""Share of practice runs in which any allowed candidate is run."""


def silently(numbers: Sequence[int], _what: str) -> Iterable[int]:
    """Track of a loop that shows no progress."""
    return numbers


@dataclass(frozen=True, eq=False, slots=True)
class DecisionPoint:
    """Decision point of a simulated job: what is known before a run, and the same as the networks see it."""

    problem: Problem
    observation: Observation


Choose = Callable[[DecisionPoint], int]
"""Answers with a row of the candidates, one of `point.observation.rows`."""


def play(job: Job, choose: Choose) -> list[Transition]:
    """Play a job to its script's end: today's configuration first, then what `choose` says, which becomes today's.

    Returns:
        The transitions after the reference run; what happened is in the job.
    """
    execute(job, job.candidates.current, job.candidates.current)
    point = decision_point(job)
    transitions: list[Transition] = []
    while len(job.runs) < job.script.runs:
        run, row = job.next_run, choose(point)
        reward = execute(job, row, point.problem.acquisition.incumbent)
        job.last_miss = forecast_error(point.problem.belief, row, job.runs[-1])
        job.chart = job.chart.after(job.last_miss)
        ended = job.script.horizon_known and len(job.runs) == job.script.runs
        before, preference, best = point.observation, point.problem.preference, job.best(run)
        point = point if ended else decision_point(job)
        after = point.observation
        transitions.append(Transition(before, before.index(row), reward, preference, best, after, ended, job.last_miss))
    return transitions


def decision_point(job: Job) -> DecisionPoint:
    """Decision point before the next run, when config.ini holds what ran last."""
    run, row = job.next_run, job.rows[-1]
    candidates = replace(job.candidates, current=row, log_rate=job.script.log_rate[run])
    problem = Problem(
        candidates,
        posterior(job.draws, candidates, job.runs),
        job.script.preferences[run],
        reference=job.candidates.current,  # config.ini moves along, its reference does not
        explore=job.explore,
        budget_left=budget_left(job.against_keeping),
    )
    problem = problem.under(context=_context(job, problem))
    return DecisionPoint(problem, observe(problem, problem.allowed))


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
    context = Context(left, slack, later, share, runs_done=run)
    if not job.watched:
        return context
    context = replace(context, last_miss=job.last_miss, surprise=job.chart.surprise)
    return watched(context, problem.belief, job.rows, job.runs)


def _later(job: Job, problem: Problem) -> tuple[AcquisitionValues | None, float]:
    """Acquisition values under the other of two conditions, and the share of the coming runs that are expected to have it."""
    script, run, belief, candidates = job.script, job.next_run, problem.belief, problem.candidates
    if script.later is None or run >= script.later > 0:
        return None, 0.0
    if script.later:
        moved = belief.log_cost + (script.log_rate[script.later] - candidates.log_rate)
        preference, share = script.preferences[run], max(0.0, 1 - (script.later - run - 1) / UNTOLD)
        priced = replace(candidates, log_rate=script.log_rate[script.later])
        moment = replace(problem, candidates=priced, belief=replace(belief, log_cost=moved), preference=preference)
        return moment.weighed, share
    other = next(
        (preference for preference in script.preferences if preference != script.preferences[run]), script.preferences[run]
    )
    return replace(problem, preference=other).weighed, 0.5


def by_belief_rule(point: DecisionPoint) -> int:
    """The belief rule, which knows the present preference and prices and how many runs follow, if that is known."""
    return by_rule(point.problem, point.problem.allowed)


def by_policy(policy: Policy, point: DecisionPoint, rng: np.random.Generator | None = None) -> int:
    """The actor's favourite; drawn only to practise (`rng`)."""
    seen = point.observation
    return int(seen.rows[policy.pick(seen.features, seen.allowed, rng)])


def practise_with(policy: Policy, rng: np.random.Generator, *, preference: Preference | None = None) -> list[Transition]:
    """Play one fresh simulated job with a policy that draws its choices: what learning feeds on next to real runs.

    Now and then any allowed candidate is run, so that the critics learn what bad choices cost and need not extrapolate.
    """

    def choose(point: DecisionPoint) -> int:
        if rng.random() < ANYTHING:
            return int(rng.choice(point.observation.rows[point.observation.allowed]))
        return by_policy(policy, point, rng)

    return play(new_job(rng, preference=preference), choose)


def mean_cost(seed: int, domain: str, choose: Choose) -> float:
    """Play the job of this seed; its mean cost per run in multiples of the optimum's."""
    job = new_job(np.random.default_rng(seed), domain)
    play(job, choose)
    return float(np.mean(job.costs))
