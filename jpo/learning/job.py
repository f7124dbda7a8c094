"""Simulated job from its reference run on: what there is to choose from, what is true, what has happened, and what it cost.

The agent never sees the truth: practice.py shows it what telemetry would bring.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import CLIP
from jpo.agent.change_detection import Chart
from jpo.agent.reward import OVERSPENT, failed_like, objective
from jpo.learning.scenarios import SCENARIOS, Script, vectors_of
from jpo.records import NAMED_PREFERENCES, Candidates, Draws, Identity, Outcome, Preference, Run, RunStatus
from jpo.simulate import SimulatedRun, draw_jobs, draw_noise, random_candidates
from jpo.simulate import observe as simulate_run
from jpo.simulate.installations import Installation, outside

if TYPE_CHECKING:
    from jpo.agent.problem import Explore
    from jpo.records import Floats

SIMULATED = Identity("simulated", "job", "simulated")
PARTICLES = 256
"""Simulated jobs in a practice belief; banks of 250 to 30,000 were measured to be equal within 3%."""
TODAYS_UTILISATION = 0.3
"""Only ratios are simulated; most training jobs leave their GPUs idle for more than half of the time."""
AS_SIMULATED = Installation("none")
DOMAINS = ("safe", "on", *(name for name in SCENARIOS if name != "stationary"))
"""What a policy can be released for: stationary jobs under each setting of `explore`, and the scenarios under both."""


@dataclass(eq=False, slots=True)
class Job:
    """Simulated job from its reference run on: what there is to choose from, what is true, and what has happened.

    Attributes:
        costs: in multiples of the optimum's under the conditions of that run, what broke the budget counted OVERSPENT times more.
        spent: what each run cost, in multiples of the reference run.
        against_keeping: the same in multiples of what today's configuration would have cost then.
        watched: whether the agent is shown when each candidate last ran and how the forecasts were met.
        chart: of the forecast errors.
    """

    candidates: Candidates
    draws: Draws
    truth: Draws
    noise: float
    script: Script
    explore: Explore
    measures_loss: bool
    watched: bool
    rng: np.random.Generator
    runs: list[Run] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    against_keeping: list[float] = field(default_factory=list)
    chart: Chart = field(default_factory=Chart)
    last_miss: float | None = None

    @property
    def next_run(self) -> int:
        """Number of the next run; after the last one, the last: what its conditions were goes on."""
        return min(len(self.runs), self.script.runs - 1)

    def vectors(self, run: int) -> Floats:
        """Noise-free reward vectors of all candidates in one run, shape (K, 6)."""
        return vectors_of(self.truth, self.script.log_rate[run], self.script.drift[run])

    def best(self, run: int) -> float:
        """Log objective of the best candidate that does not fail, under the conditions of that run."""
        worth = objective(self.vectors(run), self.script.preferences[run])
        return float(np.min(np.where(self.truth.fails[0], np.inf, worth)))


def new_job(
    rng: np.random.Generator,
    domain: str | None = None,
    *,
    preference: Preference | None = None,
    installation: Installation = AS_SIMULATED,
) -> Job:
    """Draw a job which today's configuration can do, its candidates, what its user wants, and what happens to it.

    Args:
        domain: one of DOMAINS; None draws a setting of `explore` and a scenario.
        preference: None draws one.
        installation: the cluster on which it runs.
    """
    candidates = random_candidates(rng)
    truth = outside(installation, candidates, draw_jobs(candidates, 1, rng), rng)
    while truth.fails[0, candidates.current] or _hopeless(candidates, truth):
        truth = outside(installation, candidates, draw_jobs(candidates, 1, rng), rng)
    named = ("time", "cost", "balanced")
    drawn = (
        NAMED_PREFERENCES[named[rng.integers(3)]] if rng.random() < 0.7 else Preference(*map(float, rng.dirichlet(np.ones(3))))
    )
    explore: Explore = "safe" if rng.random() < 0.5 else "on"
    scenario = list(SCENARIOS)[rng.integers(len(SCENARIOS))] if domain is None else domain
    if scenario in ("safe", "on"):
        explore, scenario = ("safe" if scenario == "safe" else "on"), "stationary"
    draws = draw_jobs(candidates, PARTICLES, rng)
    script = SCENARIOS[scenario](candidates, truth, preference or drawn, rng)
    measures_loss, watched = map(bool, rng.random(2) < 0.8)
    luck = np.random.default_rng(int(rng.integers(2**63)))  # not spawned: how often is no part of a generator's saved state
    return Job(candidates, draws, truth, draw_noise(rng), script, explore, measures_loss, watched, luck)


def _hopeless(candidates: Candidates, truth: Draws) -> bool:
    """Whether some candidate is more than 20-fold better than today's in time or cost: the belief does not look farther (CLIP),
    and one such job would outweigh a hundred others in every mean."""
    vectors = vectors_of(truth, candidates.log_rate)[~truth.fails[0]]
    return bool(vectors[:, :2].min() < -CLIP)


def execute(job: Job, row: int, incumbent: int) -> Floats:
    """Run a candidate once, note the run and its cost, and return its reward vector, shape (6,)."""
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
    job.runs.append(_run(outcome, job, row))
    job.rows.append(row)
    job.spent.append(spent)
    return vector


def _run(simulated: SimulatedRun, job: Job, row: int) -> Run:
    """The record which telemetry would bring of a simulated run."""
    number = len(job.runs)
    outcome = Outcome(
        duration_seconds=math.exp(simulated.log_time),
        val_loss=math.exp(simulated.log_loss) if job.measures_loss and not simulated.failed else None,
        gpu_utilisation=None if simulated.failed else min(1.0, TODAYS_UTILISATION * math.exp(simulated.log_utilisation)),
    )
    status = RunStatus.FAILED if simulated.failed else RunStatus.SUCCEEDED
    return Run(str(number), SIMULATED, job.candidates.parameters(row), status, None, float(number), outcome, "observe")
