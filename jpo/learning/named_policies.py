"""Training of the policies that a user can name instead of SAC, on the same simulated jobs. They come without a release test."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.alternatives.judges import OBJECTIVES
from jpo.agent.alternatives.named import OF_FILES, as_named
from jpo.agent.alternatives.steering import ACTIONS, HIDDEN, INPUTS, shared, steered_scores
from jpo.agent.alternatives.steering import SHAPES as ACTOR
from jpo.agent.policy import Policy, Weights, save_policy
from jpo.agent.reward import regret_reward
from jpo.errors import UsageError
from jpo.learning.continual import load_torch
from jpo.learning.forks import practice_job, practise_with, practised
from jpo.learning.practice import begin, step
from jpo.records import NAMED_PREFERENCES, PolicyName, Track, silently

if TYPE_CHECKING:
    from jpo.agent.sac.box import BoxLearner
    from jpo.agent.sac.box_replay import BoxReplay
    from jpo.agent.sac.fork_replay import Practice
    from jpo.agent.sac.learn import Step

JOBS: Mapping[PolicyName, int] = {"steering": 900, "reinforce": 900, "per-objective": 420}
"""Simulated jobs on which an alternative practises: some two minutes of one core each."""
UPDATES_PER_JOB = 12
STEERED_UPDATES_PER_RUN = 2
STEERED_BATCH = 256
CAPACITY = 8_000


def pretrain(name: PolicyName, *, jobs: int | None = None, seed: int = 0, track: Track = silently) -> bytes:
    """Train an alternative that has weights of its own; the same arguments give the same file.

    `jobs`: simulated jobs; None: as many as the shipped one had. Raises UsageError: JPO-E308, it has no weights of its own.
    """
    if name not in OF_FILES:
        trained = ", ".join(("sac", *OF_FILES))
        raise UsageError("--policy", f"{name} has no weights of its own", f"name one of {trained}", code="JPO-E308")
    load_torch()
    jobs = jobs or JOBS[name]
    card = {"command": f"jpo learn --pretrain {name}.safetensors --policy {name} --jobs {jobs} --seed {seed}"}
    if name == "steering":
        return save_policy(steering(jobs, seed, track), released=(), card=card, shapes=ACTOR)
    members = [reinforce(jobs, seed, track)] if name == "reinforce" else per_objective(jobs // len(OBJECTIVES), seed, track)
    return save_policy(*members, released=(), card=card)


def reinforce(jobs: int, seed: int, track: Track) -> Weights:
    """The network that REINFORCE trains, on runs which it has drawn for the most part; forks are no episodes."""
    from jpo.agent.sac import reinforce

    def play(policy: Policy, rng: np.random.Generator) -> "Practice":
        return practised(practice_job(rng), as_named("reinforce", policy), rng, forks_of_job=0)

    return _member(play, reinforce.update, range(jobs), seed, track)


def per_objective(jobs: int, seed: int, track: Track) -> list[Weights]:
    """One SAC for each preference, each on as many jobs."""
    from jpo.agent.sac.candidate_set import update

    wanted = [NAMED_PREFERENCES[name] for name in OBJECTIVES]
    starts = range(0, jobs * len(wanted), max(jobs, 1))
    return [
        _member(partial(practise_with, preference=preference), update, range(start, start + jobs), seed, track)
        for preference, start in zip(wanted, starts, strict=True)
    ]


def _member(
    play: "Callable[[Policy, np.random.Generator], Practice]", update: "Step", numbers: range, seed: int, track: Track
) -> Weights:
    from jpo.agent.sac.learn import improve, new_agent, policy_of, take_in

    agent = new_agent(seed, members=1, simulated_capacity=CAPACITY, fork_capacity=CAPACITY)
    for number in track(numbers, "practice"):
        take_in(agent, play(policy_of(agent), np.random.default_rng((seed, number))))
        improve(agent, UPDATES_PER_JOB, update)
    return policy_of(agent).members[0]


def steering(jobs: int, seed: int, track: Track) -> Weights:
    """The actor of a continuous SAC whose action, before each run, is what steers the belief rule."""
    from jpo.agent.sac.box import new_box_learner, update
    from jpo.agent.sac.box_replay import BoxReplay
    from jpo.agent.sac.candidate_set import GAMMA

    learner = new_box_learner(INPUTS, ACTIONS, hidden=HIDDEN, seed=seed, rate=1e-3, gamma=GAMMA)
    replay = BoxReplay(INPUTS, ACTIONS, CAPACITY, seed)
    for number in track(range(jobs), "practice"):
        runs = _steer(learner, replay, np.random.default_rng((seed, number)))
        for _ in range(STEERED_UPDATES_PER_RUN * runs if replay.size >= STEERED_BATCH else 0):
            update(learner, replay.sample(STEERED_BATCH))
    return {name: learner.actor[name].detach().numpy().copy() for name in ACTOR}


def _steer(learner: "BoxLearner", replay: "BoxReplay", rng: np.random.Generator) -> int:
    """Play one fresh job into the replay, with actions that the actor draws; how many runs it had."""
    import torch

    from jpo.agent.sac.box import act

    job = practice_job(rng)
    point = begin(job)
    while len(job.runs) < job.script.runs:
        seen, run, preference = point.observation, job.next_run, point.problem.comparison.preference
        state = shared(seen.features)
        steer = act(learner, torch.from_numpy(state)[None], deterministic=False)[0].numpy()
        scores = steered_scores(seen.features, steer.astype(np.float64))
        point = step(job, point, int(seen.rows[np.argmin(np.where(seen.allowed, scores, np.inf))]))
        reward = float(regret_reward(job.rewards[-1], preference, job.best(run)))
        ended = job.script.horizon_known and len(job.runs) == job.script.runs
        replay.add(state, steer, reward, shared(point.observation.features), ended)
    return len(job.runs) - 1
