"""Does the stated confidence mean what it says on simulated jobs that the belief has not seen? The three parts meet here only."""

from __future__ import annotations

import math

import numpy as np

from jpo.agent.decide import decide
from jpo.agent.problem import Problem
from jpo.agent.reward import objective
from jpo.agent.safety.risk import WORSE
from jpo.forecast.belief import posterior
from jpo.records import Identity, Outcome, Preference, Run, RunStatus
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import draw_noise, observe
from tests.asked import a_problem

JOBS, RUNS = 100, 8
BALANCED = Preference()
NOBODY = Identity("simulated", "job", "none")


def suggestions_on_one_job(rng: np.random.Generator) -> list[tuple[float, bool, str]]:
    """Confidence, whether its claim was true (noise-free), and the step, run by run."""
    candidates, noise = random_candidates(rng), draw_noise(rng)
    prior, truth = draw_jobs(candidates, 256, rng), draw_jobs(candidates, 1, rng)
    none = np.zeros(len(candidates.values))
    vectors = np.stack((truth.log_time[0], truth.log_time[0] + candidates.log_rate, none, truth.log_loss[0], none, none), axis=1)
    log_cost = np.where(truth.fails[0], np.inf, objective(vectors, BALANCED))
    told: list[tuple[float, bool, str]] = []
    runs: list[Run] = []
    row = candidates.current
    for at in range(RUNS if not truth.fails[0, row] else 0):
        one = observe(truth, 0, row, rng, noise=noise)
        status = RunStatus.FAILED if one.failed else RunStatus.SUCCEEDED
        outcome = Outcome(duration_seconds=math.exp(one.log_time), val_loss=math.exp(one.log_loss))
        runs.append(Run(str(at), NOBODY, candidates.parameters(row), status, None, float(at), outcome, "observe"))
        belief = posterior(prior, candidates, runs)
        problem = a_problem(candidates, belief, BALANCED, explore="on")
        found = decide(problem, None, len(runs))
        row = found.choice
        if found.confidence is not None:
            told.append((found.confidence, claim_holds(problem, row, log_cost - log_cost[candidates.current]), found.kind))
    return told


def claim_holds(problem: Problem, row: int, against_today: np.ndarray) -> bool:
    """Whether what the suggestion of a row claims is true: each kind of step claims something else (agent/safety/claim.py)."""
    if row == problem.candidates.current:
        others = problem.open_rows & (np.arange(len(against_today)) != row)
        return not bool((against_today[others] < -problem.belief.noise).any())
    return bool(against_today[row] < (WORSE if problem.exploration.kind(row) == "trial" else 0.0))


def test_of_suggestions_with_confidence_p_about_p_turn_out_not_worse_than_today() -> None:
    rng = np.random.default_rng(2026)
    told = [one for _ in range(JOBS) for one in suggestions_on_one_job(rng)]
    tried = np.array([(confidence, fine) for confidence, fine, kind in told if kind in ("trial", "improvement")])
    for low, high in ((0.0, 0.7), (0.7, 0.9), (0.9, 1.01)):
        stated, fine = tried[(tried[:, 0] >= low) & (tried[:, 0] < high)].T
        print(f"tried, confidence {low} to {high}: {len(stated)} stated {stated.mean():.2f}, happened {fine.mean():.2f}")  # noqa: T201
        assert len(stated) >= 30
        assert abs(stated.mean() - fine.mean()) < 0.15
    assert abs(np.mean([confidence - fine for confidence, fine, _ in told])) < 0.05
