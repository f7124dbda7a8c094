"""Practice from the states of the user's own history: what else could have been run then, on jobs that its runs do not rule out.

Next to each recorded run that the agent takes in, all shortlisted candidates are run from the state before it with the same luck:
the truth is drawn from the belief that the runs until then leave, on an installation as the user's other jobs have it, or as any
may be. Simulated jobs (forks.py) show the agent states from all over; these are like those in which it decides next.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jpo.agent.budget import BUDGET, Boldness
from jpo.agent.candidate_rows import row_of_run, rows_of_run
from jpo.agent.policy import Policy
from jpo.agent.residuals import ResidualForecast, bent, residual_forecast
from jpo.agent.sac.fork_replay import Fork, Practice
from jpo.agent.sac.replay_buffer import Transition
from jpo.forecast.belief import posterior
from jpo.learning.experience import Experience
from jpo.learning.forks import AHEAD, OUTSIDE, fork_at, practise_here
from jpo.learning.job import PARTICLES, Job, Levels, hopeless
from jpo.learning.practice import DecisionPoint, by_policy
from jpo.learning.scenarios import Script
from jpo.records import Candidates, Draws, Residuals, Run
from jpo.simulate import Latents, draw_jobs, jobs_of
from jpo.simulate.installations import draw_installation, outside

FORKS_PER_RUN = 2
"""Truths drawn at each recorded run: two of five forks in the replay are then from the user's own states."""
SEED = 0
"""Of the belief in what follows a fork; the truths are drawn from others."""


@dataclass(eq=False, slots=True)
class OwnHistory:
    """The runs of one workload as the agent takes them in, and the practice next to each.

    Attributes:
        experiences: of its runs, oldest first; None for one that teaches nothing.
        residuals: of the other jobs of the installation; None where there were none.
        forks: how many forks its states have given so far.
    """

    experiences: Iterable[Experience | None]
    residuals: Residuals | None
    forks: int = 0
    newest: Experience | None = None

    def transitions(self) -> Iterator[Transition | None]:
        """One after the other; `practise` belongs to the newest."""
        for each in self.experiences:
            self.newest = each
            yield each.transition if each else None

    def practise(self, policy: Policy, rng: np.random.Generator) -> Practice:
        """A fresh simulated job, and forks from the state before the newest run."""
        simulated = practise_here(self.residuals, policy, rng)
        own = forks_of(self.newest, self.residuals, policy, rng) if self.newest else []
        self.forks += len(own)
        return Practice(simulated.transitions, [*simulated.forks, *own])


def forks_of(experience: Experience, residuals: Residuals | None, policy: Policy, rng: np.random.Generator) -> list[Fork]:
    """Forks from the state before a recorded run, each on another truth; none where nothing else may have been run."""
    jobs = (begun_job(experience, residuals, rng) for _ in range(FORKS_PER_RUN))
    points = (DecisionPoint(experience.problem, job) for job in jobs if job)
    return [fork for point in points if (fork := fork_at(point, partial(by_policy, policy), rng))]


def begun_job(experience: Experience, residuals: Residuals | None, rng: np.random.Generator) -> Job | None:
    """A job that has begun as the recorded one did, and may go on as any that its runs do not rule out; prices and preference
    stay, and the end is known where the user has told it.

    None where the truth that was drawn is no fair example: today's values fail, or others are more than 20-fold better.
    """
    problem, first = experience.problem, experience.reference
    reference, rates = row_of_run(problem.candidates, first), problem.candidates.log_rate
    candidates = replace(problem.candidates, current=reference, log_rate=rates - rates[reference])
    runs = [run for run in experience.runs if rows_of_run(candidates, run).size]
    installation = None if residuals is None else residual_forecast(residuals, candidates)
    truth, levels = drawn_truth(candidates, runs, installation, rng)
    if truth.fails[0, reference] or hopeless(candidates, truth):
        return None
    left = problem.context.runs_left
    number = len(runs) + (AHEAD if left is None else left + 1)
    nothing, priced = (np.broadcast_to(value, (number, len(rates))) for value in (0.0, candidates.log_rate))
    script = Script(nothing, (problem.comparison.preference,) * number, priced, horizon_known=left is not None)
    return Job(
        candidates,
        jobs_of(candidates, Latents(PARTICLES, SEED)),
        truth,
        problem.belief.noise,
        script,
        Boldness(problem.boldness.explore, min_confidence=problem.boldness.min_confidence),
        measures_loss=levels.val_loss is not None,
        watched=True,
        rng=np.random.default_rng(int(rng.integers(2**63))),
        runs=runs,
        rows=[row_of_run(candidates, run) for run in runs],
        costs=[0.0] * len(runs),
        spent=[0.0] * len(runs),
        against_keeping=[1 + BUDGET - problem.leeway.budget_left],  # what exploring has cost so far, as that of one run
        installation=installation,
        levels=replace(levels, gpu_utilisation=first.outcome.gpu_utilisation),
    )


def drawn_truth(
    candidates: Candidates, runs: Sequence[Run], installation: ResidualForecast | None, rng: np.random.Generator
) -> tuple[Draws, Levels]:
    """A job, shape (1, K), from the posterior after the runs, and what its measurements are relative to.

    Half of the jobs differ from what the simulator thinks: as the earlier jobs of the installation did, or, where there were
    none, as those of any installation.
    """
    draws = draw_jobs(candidates, PARTICLES, rng)
    if rng.random() < OUTSIDE:
        draws = outside(draw_installation(rng), candidates, draws, rng) if installation is None else bent(draws, installation, 0)
    belief = posterior(draws, candidates, runs)
    one = [int(rng.choice(len(belief.weights), p=belief.weights))]
    now = [candidates.current]
    log_time, log_loss, busy = (log[one] - log[one][:, now] for log in (belief.log_time, belief.log_loss, belief.log_utilisation))
    fails = belief.fails[one] & (belief.runs == 0)  # where runs ended well, the job can be run
    return Draws(log_time, log_loss, busy, np.zeros_like(log_time), fails), Levels(
        belief.duration_seconds or 1.0, belief.val_loss
    )
