"""The agent's school: simulated jobs on which it practises, and the release test that it must pass before it may decide.

Simulator, forecast and agent meet here as in advisor.py, only that the runs are simulated too: the agent sees what telemetry
would bring, through the same belief, state and safety screen, and the simulator knows what the best choice would have cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.decide import by_policy, by_rule, may_try
from jpo.agent.prospects import Prospects, prospects
from jpo.agent.release import Release, compare
from jpo.agent.replay_buffer import Transition
from jpo.agent.reward import failed_like, objective
from jpo.agent.state import Observation, observe
from jpo.forecast import posterior
from jpo.records import NAMED_PREFERENCES, Belief, Candidates, Draws, Identity, Outcome, Preference, Run, RunStatus
from jpo.simulate import SimulatedRun, draw_jobs, draw_noise, random_candidates
from jpo.simulate import observe as simulate_run

if TYPE_CHECKING:
    from jpo.agent.decide import Explore
    from jpo.agent.policy import Policy
    from jpo.records import Bools, Floats

    Choose = Callable[[Belief, Candidates, Preference, Prospects, Bools], int]
    """Answers with a row of the candidates."""

Track = Callable[[Sequence[int], str], Iterable[int]]
"""Goes through numbers and shows how far it is: `track(range(10), "practice")`."""

SIMULATED = Identity("simulated", "job", "simulated")
PARTICLES = 256
"""Simulated jobs in a practice belief; banks of 250 to 30,000 were measured to be equal within 3 %."""
PRACTICE_RUNS = 20
TODAYS_UTILISATION = 0.3
"""Only ratios are simulated; most training jobs leave their GPUs idle for more than half of the time."""
CONFIDENCE = 0.9
UPDATES = 6000
"""About seven minutes of one core."""
STAGES = 40
"""Networks are noted so often; the policy is the mean of the second half, which no single late step can spoil."""
REPLAY_TRANSITIONS = 16_000
ANYTHING = 0.1
"""Share of practice runs in which any allowed candidate is run."""
TEST_SEED = 9_000_000
"""Jobs of the release test are drawn from here on; training draws from one stream that starts at its own small seed."""


def silently(numbers: Sequence[int], _what: str) -> Iterable[int]:
    """No progress shown."""
    return numbers


@dataclass(eq=False, slots=True)
class Job:
    """One simulated job from its reference run on: what there is to choose from, what is true, and what has happened.

    `costs` are in multiples of the optimum's, the reference run included.
    """

    candidates: Candidates
    draws: Draws
    truth: Draws
    noise: float
    preference: Preference
    explore: Explore
    measures_loss: bool
    rng: np.random.Generator
    runs: list[Run] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    @property
    def vectors(self) -> Floats:
        """Noise-free reward vectors of all candidates, shape (K, 5)."""
        time, loss, use = self.truth.log_time[0], self.truth.log_loss[0], self.truth.log_utilisation[0]
        return np.stack((time, time + self.candidates.log_rate, use, loss, np.zeros_like(time)), axis=1)

    @property
    def best(self) -> float:
        """Log objective of the best candidate that does not fail."""
        return float(np.min(np.where(self.truth.fails[0], np.inf, objective(self.vectors, self.preference))))


def new_job(rng: np.random.Generator) -> Job:
    """Draw a job which today's configuration can do, its candidates, and what its user wants."""
    candidates = random_candidates(rng)
    truth = draw_jobs(candidates, 1, rng)
    while truth.fails[0, candidates.current]:
        truth = draw_jobs(candidates, 1, rng)
    named = ("time", "cost", "balanced")
    drawn = (
        NAMED_PREFERENCES[named[rng.integers(3)]] if rng.random() < 0.7 else Preference(*map(float, rng.dirichlet(np.ones(3))))
    )
    explore: Explore = "safe" if rng.random() < 0.5 else "on"
    draws = draw_jobs(candidates, PARTICLES, rng)
    return Job(candidates, draws, truth, draw_noise(rng), drawn, explore, bool(rng.random() < 0.8), rng.spawn(1)[0])


def play(job: Job, choose: Choose, *, runs: int = PRACTICE_RUNS) -> list[Transition]:
    """Run a job `runs` times: today's configuration first, then what `choose` says. Each run becomes today's configuration.

    Returns:
        The transitions after the reference run; the job's `runs` and `costs` are filled.
    """
    row = job.candidates.current
    _execute(job, row, row)
    transitions: list[Transition] = []
    candidates, belief, promise, allowed = _look(job, row)
    while len(job.runs) < runs:
        row = choose(belief, candidates, job.preference, promise, allowed)
        seen = observe(belief, candidates, job.preference, promise, allowed, row)
        reward = _execute(job, row, promise.incumbent)
        candidates, belief, promise, allowed = _look(job, row)
        following: Observation = observe(belief, candidates, job.preference, promise, allowed)
        transitions.append(Transition(seen, seen.index(row), reward, job.preference, job.best, following))
    return transitions


def _look(job: Job, row: int) -> tuple[Candidates, Belief, Prospects, Bools]:
    """What is known before the next run, when config.ini holds `row`."""
    belief = posterior(job.draws, job.candidates, job.runs)
    candidates = Candidates(job.candidates.names, job.candidates.values, row, job.candidates.admissible, job.candidates.log_rate)
    promise = prospects(belief, candidates, job.preference)
    return candidates, belief, promise, may_try(promise, candidates, job.explore, CONFIDENCE)


def _execute(job: Job, row: int, incumbent: int) -> Floats:
    """Run a candidate once, note the run and its cost, and return its reward vector, shape (5,)."""
    outcome = simulate_run(job.truth, 0, row, job.rng.spawn(1)[0], noise=job.noise)  # the same luck whatever was chosen
    job.runs.append(_run(outcome, job, row))
    if outcome.failed:
        vector = failed_like(job.vectors[incumbent])
    else:
        rate = float(job.candidates.log_rate[row])
        vector = np.array((outcome.log_time, outcome.log_time + rate, outcome.log_utilisation, outcome.log_loss, 0.0))
    job.costs.append(math.exp(float(objective(vector, job.preference)) - job.best))
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


def practise_with(policy: Policy, rng: np.random.Generator) -> list[Transition]:
    """Play one fresh simulated job with a policy that draws its choices: what learning feeds on beside real runs.

    Now and then any allowed candidate is run, so that the critics learn what bad choices cost and need not extrapolate.
    """

    def choose(belief: Belief, candidates: Candidates, preference: Preference, promise: Prospects, allowed: Bools) -> int:
        if rng.random() < ANYTHING:
            return int(rng.choice(np.flatnonzero(allowed)))
        return by_policy(policy, belief, candidates, preference, promise, allowed, rng)

    return play(new_job(rng), choose)


def release_test(policy: Policy, seeds: Iterable[int]) -> dict[Explore, Release]:
    """Play the same fresh jobs, one per seed, with the policy and with the belief rule, by the job's own setting of `explore`."""
    costs: dict[Explore, list[tuple[float, float]]] = {"safe": [], "on": []}
    for seed in seeds:
        theirs, ours = (new_job(np.random.default_rng(seed)) for _ in range(2))
        play(ours, partial(by_policy, policy))
        play(theirs, lambda _belief, _candidates, _preference, promise, allowed: by_rule(promise, allowed))
        costs[ours.explore].append((float(np.mean(ours.costs)), float(np.mean(theirs.costs))))
    return {explore: compare(*zip(*pairs, strict=True)) for explore, pairs in costs.items()}


def pretrain(
    *, updates: int | None = None, seed: int = 0, test_jobs: int = 600, track: Track = silently
) -> tuple[bytes, dict[Explore, Release]]:
    """Train a policy on simulated jobs and put it to the release test. Uses one thread of torch.

    Args:
        updates: gradient steps, one per simulated job; None: as many as the shipped policy got.
        test_jobs: fresh jobs for the release test, none of them trained on; about half of them for each setting of `explore`.
        track: shows progress.

    Returns:
        The policy file with its card (command, seed, updates, figures), and the release test. Same arguments, same file.
    """
    import torch  # only when something is learnt

    from jpo.agent.learn import new_agent, policy_of, practise
    from jpo.agent.policy import mean_policy, save_policy

    torch.set_num_threads(1)  # faster than two on networks this small, and the same result everywhere
    updates = updates or UPDATES
    agent = new_agent(seed, simulated_capacity=REPLAY_TRANSITIONS)
    stages = []
    for stage in track(range(STAGES), "practice"):
        practise(agent, practise_with, updates=updates * (stage + 1) // STAGES - updates * stage // STAGES)
        stages.append(policy_of(agent))
    policy = mean_policy(stages[STAGES // 2 :])
    results = release_test(policy, track(range(TEST_SEED, TEST_SEED + test_jobs), "release test"))
    card: dict[str, Any] = {
        "command": f"jpo learn --pretrain policy.safetensors --updates {updates} --seed {seed}",
        "runs_per_job": PRACTICE_RUNS,
        "release_test": {explore: asdict(result) for explore, result in results.items()},
    }
    released = [explore for explore, result in results.items() if result.passed]
    return save_policy(policy.weights, released=released, card=card), results
