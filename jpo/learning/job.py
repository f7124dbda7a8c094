"""Simulated job from its reference run on: what there is to choose from, what is true, what has happened, and what it cost.

The agent never sees the truth: practice.py shows it what telemetry would bring.
"""

import math
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from jpo.agent.acquisition import CLIP
from jpo.agent.budget import Boldness, Explore
from jpo.agent.change_detection import Chart
from jpo.agent.residuals import ResidualForecast, bent, joined, residual_forecast, residuals_of_job
from jpo.agent.reward import OVERSPENT, failed_like, objective
from jpo.forecast.belief import pick_jobs, posterior
from jpo.learning.scenarios import SCENARIOS, Script, vectors_of
from jpo.records import NAMED_PREFERENCES, Candidates, Draws, Floats, Identity, Outcome, Preference, Residuals, Run, RunStatus
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.installations import AS_SIMULATED, Installation, outside
from jpo.simulate.runs import SimulatedRun, draw_noise
from jpo.simulate.runs import observe as simulate_run

SIMULATED = Identity("simulated", "job", "simulated")
FEW_PARTICLES = 64
"""The same for earlier jobs, of which only means count."""
CONFIGURATIONS = 9
"""Most configurations that an earlier job ran."""
CONFIDENT = 0.7
"""`min_confidence` of the command line, under which half of the jobs are run; the library's is 0."""
PARTICLES = 256
"""Simulated jobs in a practice belief; banks of 250 to 30,000 were measured to be equal within 3%."""
TODAYS_UTILISATION = 0.3
"""Only ratios are simulated; most training jobs leave their GPUs idle for more than half of the time."""
DOMAINS = ("safe", "on", *(name for name in SCENARIOS if name != "stationary"))
"""What a policy can be released for: stationary jobs under each setting of `explore`, and the scenarios under both."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Levels of a job: what its runs measure where the simulator's ratio is 1; None: it is not measured."""

    duration_seconds: float = 1.0
    val_loss: float | None = 1.0
    gpu_utilisation: float | None = TODAYS_UTILISATION


RATIOS = Levels()
"""Of a job that is simulated from its start: only ratios are."""


@dataclass(eq=False)
class Job:
    """Simulated job from its reference run on: what there is to choose from, what is true, and what has happened.

    Attributes:
        costs: in multiples of the optimum's under the conditions of that run, what broke the budget counted OVERSPENT times more.
        spent: what each run cost, in multiples of the reference run.
        rewards: reward vector of each run.
        against_keeping: the same in multiples of what today's configuration would have cost then.
        watched: whether the agent is shown when each candidate last ran and how the forecasts were met.
        chart: of the forecast errors.
        installation: what its earlier jobs say of the candidates; None where it had none.
        levels: of its measurements.
    """

    candidates: Candidates
    draws: Draws
    truth: Draws
    noise: float
    script: Script
    boldness: Boldness
    measures_loss: bool
    watched: bool
    rng: np.random.Generator
    runs: list[Run] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    rewards: list[Floats] = field(default_factory=list)
    against_keeping: list[float] = field(default_factory=list)
    chart: Chart = field(default_factory=Chart)
    last_miss: float | None = None
    installation: ResidualForecast | None = None
    levels: Levels = RATIOS

    @cached_property
    def draws_here(self) -> Draws:
        """The prior's jobs as they would be on this installation."""
        assert self.installation is not None
        return bent(self.draws, self.installation, 0)

    def copy(self) -> Self:
        """The same job at the same moment, with the same luck to come; what is run in one does not touch the other."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list):
                setattr(other, name, list(value))
        other.rng = deepcopy(self.rng)
        return other

    @property
    def next_run(self) -> int:
        """Number of the next run; after the last one, the last: what its conditions were goes on."""
        return min(len(self.runs), self.script.runs - 1)

    def vectors(self, run: int) -> Floats:
        """Noise-free reward vectors of all candidates in one run, shape (K, 6)."""
        return vectors_of(self.truth, self.script.log_rate[run], self.script.drift[run])

    def best(self, run: int) -> float:
        """Log objective of the best admissible candidate that does not fail, under the conditions of that run."""
        worth = objective(self.vectors(run), self.script.preferences[run])
        return float(np.min(np.where(self.candidates.admissible & ~self.truth.fails[0], worth, np.inf)))


def new_job(
    rng: np.random.Generator,
    domain: str | None = None,
    *,
    preference: Preference | None = None,
    installation: Installation = AS_SIMULATED,
    residuals: Residuals | None = None,
    like_residuals: bool = False,
) -> Job:
    """Draw a job which today's configuration can do, its candidates, what its user wants, and what happens to it.

    `domain`: one of DOMAINS; None draws a setting of `explore` and a scenario. `preference`: None draws one. `residuals`: of the
    jobs that ran on the installation before; `like_residuals`: the job differs from what the simulator thinks as those did.
    """
    candidates, truth = _true_job(installation, rng, residuals if like_residuals else None)
    drawn = random_preference(rng)
    explore: Explore = "safe" if rng.random() < 0.5 else "on"
    scenario = list(SCENARIOS)[rng.integers(len(SCENARIOS))] if domain is None else domain
    if scenario in ("safe", "on"):
        explore, scenario = ("safe" if scenario == "safe" else "on"), "stationary"
    draws = draw_jobs(candidates, PARTICLES, rng)
    script = SCENARIOS[scenario](candidates, truth, preference or drawn, rng)
    measures_loss, watched = map(bool, rng.random(2) < 0.8)
    luck = np.random.default_rng(int(rng.integers(2**63)))  # not spawned: how often is no part of a generator's saved state
    noise = draw_noise(rng)
    boldness = Boldness(explore, min_confidence=CONFIDENT if rng.random() < 0.5 else 0.0)
    job = Job(candidates, draws, truth, noise, script, boldness, measures_loss, watched, luck)
    job.installation = None if residuals is None else residual_forecast(residuals, candidates)
    return job


def random_preference(rng: np.random.Generator) -> Preference:
    """Time, cost, balanced, or random weights of the three goals."""
    if rng.random() < 0.7:
        return NAMED_PREFERENCES[("time", "cost", "balanced")[rng.integers(3)]]
    return Preference(*map(float, rng.dirichlet(np.ones(3))))


def earlier_jobs(installation: Installation, jobs: int, rng: np.random.Generator) -> Residuals | None:
    """Residuals of jobs that ran on an installation before: each ran some configurations that simulated jobs find promising.

    They are not played, which would take a hundred times as long.
    """
    parts = []
    for number in range(jobs):
        candidates, truth = _true_job(installation, rng)
        draws = draw_jobs(candidates, FEW_PARTICLES, rng)
        prior = posterior(draws, candidates, ())
        liked = np.log(0.5 + rng.random(len(candidates.values))) - prior.weights @ np.minimum(prior.log_cost, 1.0)
        rows = np.argsort(-liked)[: int(rng.integers(2, CONFIGURATIONS + 1))]
        runs = [_run(simulate_run(truth, 0, int(row), rng), candidates, int(row), at) for at, row in enumerate(rows)]
        reference = _run(simulate_run(truth, 0, candidates.current, rng), candidates, candidates.current, len(rows))
        parts.append(residuals_of_job(str(number), candidates, prior, [reference, *runs]))
    return joined(parts)


def _true_job(installation: Installation, rng: np.random.Generator, like: Residuals | None = None) -> tuple[Candidates, Draws]:
    """A job, shape (1, K), which today's configuration can do, and its candidates.

    `like`: residuals as which it differs from what the simulator thinks; None: as the installation says.
    """
    while True:
        candidates = random_candidates(rng)
        truth = outside(installation, candidates, draw_jobs(candidates, 1, rng), rng)
        if like is not None:
            earlier = residual_forecast(like, candidates)
            several = bent(draw_jobs(candidates, FEW_PARTICLES, rng), earlier, int(rng.integers(2**31)))
            truth = pick_jobs(several, rng.integers(FEW_PARTICLES, size=1))
        if not (truth.fails[0, candidates.current] or hopeless(candidates, truth)):
            return candidates, truth


def hopeless(candidates: Candidates, truth: Draws) -> bool:
    """Whether some candidate is more than 20-fold better than today's in time or cost: the belief does not look farther (CLIP),
    and one such job would outweigh a hundred others in every mean."""
    vectors = vectors_of(truth, candidates.log_rate)[~truth.fails[0]]
    return bool(vectors[:, :2].min() < -CLIP)


def execute(job: Job, row: int, incumbent: int) -> None:
    """Run a candidate once; note the run, its cost and its reward vector."""
    run, budget = job.next_run, job.script.budget
    preference, vectors = job.script.preferences[run], job.vectors(run)
    outcome = simulate_run(job.truth, 0, row, job.rng.spawn(1)[0], noise=job.noise)  # the same luck whatever was chosen
    outcome = replace(outcome, log_time=outcome.log_time + float(job.script.drift[run, row]))
    vector = failed_like(vectors[incumbent])
    if not outcome.failed:
        cost = outcome.log_time + float(job.script.log_rate[run, row])
        vector = np.array((outcome.log_time, cost, outcome.log_utilisation, outcome.log_loss, 0.0, 0.0))
    worth = min(float(objective(vector, preference)), float(objective(vectors[incumbent], preference)) + CLIP)
    best = job.best(run)
    spent = math.exp(worth)
    if job.runs:  # the reference run was there before JPO
        vector[5] = 0.0 if budget is None else min(spent, max(0.0, sum(job.spent[1:]) + spent - budget))
        job.against_keeping.append(math.exp(worth - float(objective(vectors[job.candidates.current], preference))))
    job.costs.append(math.exp(worth - best) + OVERSPENT * float(vector[5]) * math.exp(-best))
    job.runs.append(_run(outcome, job.candidates, row, len(job.runs), job.levels, measures_loss=job.measures_loss))
    job.rows.append(row)
    job.spent.append(spent)
    job.rewards.append(vector)


def _run(
    simulated: SimulatedRun,
    candidates: Candidates,
    row: int,
    number: int,
    levels: Levels = RATIOS,
    *,
    measures_loss: bool = False,
) -> Run:
    """The record which telemetry would bring of a simulated run."""
    loss = levels.val_loss if measures_loss and not simulated.failed else None
    busy = None if simulated.failed else levels.gpu_utilisation
    outcome = Outcome(
        duration_seconds=levels.duration_seconds * math.exp(simulated.log_time),
        val_loss=None if loss is None else loss * math.exp(simulated.log_loss),
        gpu_utilisation=None if busy is None else min(1.0, busy * math.exp(simulated.log_utilisation)),
    )
    status = RunStatus.FAILED if simulated.failed else RunStatus.SUCCEEDED
    return Run(str(number), SIMULATED, candidates.parameters(row), status, None, float(number), outcome, "observe")
