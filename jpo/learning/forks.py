"""Forks: candidates that are all run from one state of a simulated job, on the same truth and with the same luck.

What one of them saves against the belief rule's choice is then known with 15 to 39 times less variance than a return.

Source: common random numbers, Law, "Simulation Modeling and Analysis", 11.2; rollouts, Bertsekas, "Dynamic Programming and
Optimal Control", 6.4.
"""

from functools import partial

import numpy as np

from jpo.agent.policy import Policy
from jpo.agent.reward import objective
from jpo.agent.sac.fork_replay import MOST, Fork, Practice
from jpo.agent.sac.replay_buffer import Transition
from jpo.learning.job import Job, earlier_jobs, new_job
from jpo.learning.practice import BOUND, Choose, DecisionPoint, begin, by_belief_rule, by_policy, step
from jpo.records import Preference, Residuals
from jpo.simulate.installations import AS_SIMULATED, draw_installation

AHEAD = 8
"""Runs which are played after a fork, its own included."""
AFTERWARDS = 8.0
"""Further runs for which what is known best then is worth its cost, where the end is not known."""
FORKS_PER_JOB = 3
OUTSIDE = 0.5
"""Share of practice jobs whose installation differs from what the simulator thinks."""
MOST_JOBS = 40
"""Most earlier jobs of an installation."""
DRAWN = 0.5
"""Share of practice jobs in which the policy draws its choices."""


def practise_with(policy: Policy | None, rng: np.random.Generator, *, preference: Preference | None = None) -> Practice:
    """Play one fresh simulated job: what learning feeds on. `policy` None: the belief rule; `preference` None: one is drawn."""
    return practised(practice_job(rng, preference), policy, rng)


def practice_job(rng: np.random.Generator, preference: Preference | None = None) -> Job:
    """One fresh simulated job, half of them on installations that differ from the simulator's."""
    kind = None if rng.random() < OUTSIDE else AS_SIMULATED.kind
    installation = draw_installation(rng, kind)
    before = int(np.exp(rng.uniform(0, np.log(MOST_JOBS)))) if rng.random() < 0.8 else 0
    residuals = earlier_jobs(installation, before, rng)
    return new_job(rng, preference=preference, installation=installation, residuals=residuals)


def practise_here(residuals: Residuals | None, policy: Policy, rng: np.random.Generator) -> Practice:
    """Play one fresh simulated job for an agent that serves an installation: half of them as its own jobs turned out.

    `residuals`: of its jobs; None: practise on any installations.
    """
    if residuals is None or rng.random() < OUTSIDE:
        return practise_with(policy, rng)
    return practised(new_job(rng, residuals=residuals, like_residuals=True), policy, rng)


def practised(job: Job, policy: Policy | None, rng: np.random.Generator, forks_of_job: int = FORKS_PER_JOB) -> Practice:
    """Play a job that has not begun, with forks at some of its states, early ones more often."""
    drawn = rng.random() < DRAWN
    choose: Choose = by_belief_rule if policy is None else partial(by_policy, policy)
    runs = job.script.runs
    at = set((runs * rng.random(forks_of_job) ** 2).astype(int) + 1)
    transitions: list[Transition] = []
    forks: list[Fork] = []
    point = begin(job)
    while len(job.runs) < runs:
        if len(job.runs) in at and (fork := fork_at(point, choose, rng)):
            forks.append(fork)
        row = by_policy(policy, point, rng) if drawn and policy is not None else choose(point)
        before, best = point.observing(row), job.best(job.next_run)
        preference, point = point.problem.comparison.preference, step(job, point, row)
        ended = job.script.horizon_known and len(job.runs) == runs
        seen, following = before.index(row), point.observation
        transitions.append(Transition(before, seen, job.rewards[-1], preference, best, following, ended, job.last_miss))
    return Practice(transitions, forks)


def fork_at(point: DecisionPoint, choose: Choose, rng: np.random.Generator) -> Fork | None:
    """What up to MOST candidates save against the belief rule's choice; None where nothing else may be run."""
    rows = shortlist(point, choose, rng)
    if len(rows) < 2:
        return None
    costs = np.array([cost_of(point, row, choose) for row in rows])
    seen = point.observing(*rows)
    return Fork(seen.features[[seen.index(row) for row in rows]], costs[0] - costs)


def shortlist(point: DecisionPoint, choose: Choose, rng: np.random.Generator) -> list[int]:
    """The rule's choice first, then the policy's, the incumbent, what is best by score and by earlier jobs, and any two."""
    problem = point.problem
    allowed = np.flatnonzero(problem.allowed)
    by_score = allowed[np.argsort(problem.acquisition.score[allowed])[:3]]
    anything = rng.choice(allowed, min(2, len(allowed)), replace=False)
    by_earlier_jobs = () if point.here is None else allowed[np.argsort(point.here.score[allowed])[:2]]
    liked = [by_belief_rule(point), choose(point), problem.acquisition.incumbent, *by_score, *by_earlier_jobs, *anything]
    return [row for row in dict.fromkeys(map(int, liked)) if problem.allowed[row]][:MOST]


def cost_of(point: DecisionPoint, row: int, choose: Choose) -> float:
    """Cost of running a row now, of the runs that follow, and of what is known best then, in runs of the optimum."""
    job, now = point.job.copy(), point
    played, runs = len(job.runs), min(AHEAD, job.script.runs - len(job.runs))
    for _ in range(runs):
        now = step(job, now, row if len(job.runs) == played else choose(now))
    to_come = job.script.runs - len(job.runs)
    afterwards = to_come if job.script.horizon_known else max(float(to_come), AFTERWARDS)
    return float(np.minimum(job.costs[played:], BOUND).sum()) + min(afterwards, AFTERWARDS) * _settled(job, now)


def _settled(job: Job, point: DecisionPoint) -> float:
    """True cost of a run of what is known best, in optima."""
    row, run = point.problem.exploration.known_best, job.next_run
    if job.truth.fails[0, row]:
        return BOUND
    worth = float(objective(job.vectors(run), job.script.preferences[run])[row])
    return float(min(np.exp(worth - job.best(run)), BOUND))
