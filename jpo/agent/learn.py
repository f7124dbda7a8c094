"""Learning: real runs go to one replay, simulated ones to another, half of every batch comes from each.

The history is the truth and this state a cache: from the same start, the same runs in the same order give the same agent, bit by
bit, in one go or in several. So the work is counted in updates per run; a time budget only decides how many runs are taken in
before the rest waits for the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.policy import Policy
from jpo.agent.replay_buffer import Batch, ReplayBuffer, Transition, concatenate
from jpo.agent.sac import Learner, new_learner, update, with_optimisers

if TYPE_CHECKING:
    import torch

BATCH = 128
REAL_BEFORE_HALF = 16
"""Fewer real transitions than this are shown in proportion, lest the networks learn them by heart."""
UPDATES_PER_RUN = 8

Practice = Callable[[Policy, np.random.Generator], Iterable[Transition]]
"""Plays one simulated job with this policy, stochastically, and returns its transitions."""


@dataclass(eq=False, slots=True)
class AgentState:
    """The agent while it learns.

    Attributes:
        learner: networks, targets, optimisers and the number of updates.
        real, simulated: replays.
        rng: draws batches and simulated jobs.
        runs_learnt: real runs taken in so far, in the order of the history.
        history: digest of the runs it learnt from, by which the owner of the history knows whether they still are its beginning.
    """

    learner: Learner
    real: ReplayBuffer
    simulated: ReplayBuffer
    rng: np.random.Generator
    runs_learnt: int = 0
    history: str = ""


def new_agent(seed: int, *, start: Policy | None = None, real_capacity: int = 512, simulated_capacity: int = 512) -> AgentState:
    """An agent that knows nothing, or what the policy `start` knows."""
    learner = new_learner(seed) if start is None else _learner_from(start)
    rng = np.random.default_rng(seed)
    return AgentState(learner, ReplayBuffer(real_capacity), ReplayBuffer(simulated_capacity), rng)


def learn(
    state: AgentState, transitions: Iterable[Transition | None], practice: Practice, *, out_of_time: Callable[[], bool]
) -> int:
    """Take in real runs one after the other, each with a simulated job beside it and UPDATES_PER_RUN updates.

    Args:
        transitions: runs not learnt before (from `state.runs_learnt` on), oldest first; None for one that teaches nothing.
        out_of_time: asked before each run; True leaves the rest for the next time.

    Returns:
        Number of runs taken in.
    """
    before = state.runs_learnt
    for transition in transitions:
        if out_of_time():
            break
        if transition is not None:
            state.real.add([transition])
            _practise_once(state, practice, UPDATES_PER_RUN, BATCH)
        state.runs_learnt += 1
    return state.runs_learnt - before


def practise(state: AgentState, practice: Practice, *, updates: int, batch: int = BATCH) -> None:
    """Learn from simulated jobs alone, one update per job: how the shipped policy was made."""
    for _ in range(updates):
        _practise_once(state, practice, 1, batch)


def policy_of(state: AgentState) -> Policy:
    """The present networks for numpy, not released: only the release test may say so."""
    tensors = {**state.learner.actor, **state.learner.critics}
    return Policy({name: tensor.detach().numpy().copy() for name, tensor in tensors.items()}, released=(), card={})


def _practise_once(state: AgentState, practice: Practice, updates: int, batch: int) -> None:
    state.simulated.add(practice(policy_of(state), state.rng))
    for _ in range(updates):
        update(state.learner, _mixed(state, batch))


def _mixed(state: AgentState, n: int) -> Batch:
    """Half real, half simulated; less real while there are few, none while there are none."""
    real = min(n // 2, n * state.real.size // (2 * REAL_BEFORE_HALF))
    if not real:
        return state.simulated.sample(n, state.rng)
    return concatenate(state.real.sample(real, state.rng), state.simulated.sample(n - real, state.rng))


def _learner_from(policy: Policy) -> Learner:
    actor, critics = _tensors(policy, "actor"), _tensors(policy, "critics")
    return with_optimisers(actor, critics, {name: value.clone() for name, value in critics.items()})


def _tensors(policy: Policy, net: str) -> dict[str, torch.Tensor]:
    import torch

    return {name: torch.from_numpy(array.copy()) for name, array in policy.weights.items() if name.startswith(net)}
