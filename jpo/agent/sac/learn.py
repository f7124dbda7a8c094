"""Learning: real runs go to one replay, simulated ones to another, half of every batch comes from each.

The history is the truth and this state a cache: from the same start, the same runs in the same order give the same agent, bit by
bit, in one go or in several. So the work is counted in updates per run; a time budget only decides how many runs are taken in
before the rest waits for the next time.

The networks begin as the belief rule: one unit carries its score through all layers, the others add to it what they learn. So a
policy is the rule at first and departs from it where that pays (residual policy learning: Silver et al., 2018; Johannink et al.,
ICRA 2019). When the forecasts show that the world has changed, the agent begins anew (see change.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from jpo.agent.change_detection import Chart
from jpo.agent.policy import Policy
from jpo.agent.sac.candidate_set import ALPHA, Learner, new_learner, update, with_optimisers
from jpo.agent.sac.replay_buffer import Batch, ReplayBuffer, Transition, concatenate
from jpo.agent.state import BOUND, OWN

if TYPE_CHECKING:
    from jpo.agent.sac.networks import Tensors

BATCH = 128
REAL_BEFORE_HALF = 16
"""Fewer real transitions than this are shown in proportion, or the networks would learn them by heart."""
UPDATES_PER_RUN = 8

Practice = Callable[[Policy, np.random.Generator], Iterable[Transition]]
"""Plays one simulated job with this policy, stochastically, and returns its transitions."""

Step = Callable[[Learner, Batch], object]
"""One gradient step: `sac.update`, or `reinforce.update` for comparison."""


@dataclass(eq=False, slots=True)
class AgentState:
    """State of the agent while it learns.

    Attributes:
        learner: networks, targets, optimisers and the number of updates.
        real, simulated: replays.
        rng: draws batches and simulated jobs.
        runs_learnt: real runs taken in so far, in the order of the history.
        history: digest of the runs it learnt from, by which the owner of the history knows whether they still are its beginning.
        chart: of the real runs' forecast errors since the agent began.
        resets: how often it began anew because the world had changed.
    """

    learner: Learner
    real: ReplayBuffer
    simulated: ReplayBuffer
    rng: np.random.Generator
    runs_learnt: int = 0
    history: str = ""
    chart: Chart = field(default_factory=Chart)
    resets: int = 0


def new_agent(seed: int, *, start: Policy | None = None, real_capacity: int = 512, simulated_capacity: int = 512) -> AgentState:
    """An agent that decides as the belief rule does, or as the policy `start`."""
    rng = np.random.default_rng(seed)
    return AgentState(_begin(seed, start), ReplayBuffer(real_capacity), ReplayBuffer(simulated_capacity), rng)


def learn(
    state: AgentState,
    transitions: Iterable[Transition | None],
    practice: Practice,
    *,
    out_of_time: Callable[[], bool],
    start: Policy | None = None,
) -> int:
    """Take in real runs one after the other, each with a simulated job next to it and UPDATES_PER_RUN updates.

    Args:
        transitions: runs not learnt before (from `state.runs_learnt` on), oldest first; None for one that teaches nothing.
        out_of_time: asked before each run; True leaves the rest for the next time.
        start: what the agent begins anew from when the world has changed; None = the belief rule.

    Returns:
        Number of runs taken in.
    """
    before = state.runs_learnt
    for transition in transitions:
        if out_of_time():
            break
        if transition is not None:
            _watch(state, transition, start)
            state.real.add([transition])
            _practise_once(state, practice, UPDATES_PER_RUN, BATCH)
        state.runs_learnt += 1
    return state.runs_learnt - before


def practise(
    state: AgentState, practice: Practice, *, jobs: int, updates: int = 1, batch: int = BATCH, step: Step = update
) -> None:
    """Learn from simulated jobs alone, `updates` gradient steps after each: how the shipped policy was made."""
    for _ in range(jobs):
        _practise_once(state, practice, updates, batch, step)


def policy_of(state: AgentState) -> Policy:
    """The present networks for numpy, not released: only the release test may say so."""
    tensors = {**state.learner.actor, **state.learner.critics}
    return Policy({name: tensor.detach().numpy().copy() for name, tensor in tensors.items()}, released=(), card={})


def _watch(state: AgentState, transition: Transition, start: Policy | None) -> None:
    """Note the run's forecast error; on the alarm forget the runs of the old world and what was learnt from them."""
    state.chart = state.chart.after(transition.miss)
    if state.chart.alarm:
        state.resets += 1
        state.chart = Chart()
        state.learner, state.real = _begin(state.resets, start), ReplayBuffer(state.real.capacity)


def _practise_once(state: AgentState, practice: Practice, updates: int, batch: int, step: Step = update) -> None:
    state.simulated.add(practice(policy_of(state), state.rng))
    for _ in range(updates):
        step(state.learner, _mixed(state, batch))


def _mixed(state: AgentState, n: int) -> Batch:
    """Half real, half simulated; less real while there are few, none while there are none."""
    real = min(n // 2, n * state.real.size // (2 * REAL_BEFORE_HALF))
    if not real:
        return state.simulated.sample(n, state.rng)
    return concatenate(state.real.sample(real, state.rng), state.simulated.sample(n - real, state.rng))


def _begin(seed: int, start: Policy | None) -> Learner:
    if start is not None:
        tensors = {name: torch.from_numpy(array.copy()) for name, array in start.weights.items()}
        actor, critics = ({name: tensors[name] for name in tensors if name.startswith(net)} for net in ("actor", "critics"))
        return with_optimisers(actor, critics, {name: value.clone() for name, value in critics.items()})
    learner = new_learner(seed)
    _carry_score(learner.actor, "actor", -1 / ALPHA)  # pi ~ exp(-score / alpha): what SAC would do if Q were minus the score
    for network in (learner.critics, learner.targets):
        _carry_score(network, "critics", -1.0)
    return learner


def _carry_score(parameters: Tensors, net: str, slope: float) -> None:
    """Let the first unit of each layer hold the belief rule's score + BOUND, which ReLU never cuts; the output is `slope` times
    it plus what the other units say, which is next to nothing at first."""
    w0, b0, w1, b1, w2 = (parameters[f"{net}.{name}"] for name in ("w0", "b0", "w1", "b1", "w2"))
    w0[..., :, 0], b0[..., 0] = 0.0, BOUND
    w0[..., OWN.index("belief rule score"), 0] = 1.0
    w1[..., :, 0], w1[..., 0, :], b1[..., 0] = 0.0, 0.0, 0.0
    w1[..., 0, 0] = 1.0
    w2[..., 0, 0] = slope
