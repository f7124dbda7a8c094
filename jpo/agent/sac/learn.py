"""Learning: real runs go to one replay, simulated ones to another, forks to a third; each member of an ensemble draws its own.

One agent learns from all workloads of a store, so that thirty jobs teach the thirty-first. The history is the truth and this
state a cache: from the same start, the same runs in the same order give the same agent, bit by bit, in one go or in several. So
the work is counted in updates per run; a time budget only decides how many runs are taken in before the rest waits.

The critics begin as the belief rule's score: one unit carries it through all layers, the others add to it what they learn. Where
jobs ran on the installation before, it is the score under the belief that they bend. So a policy is the rule at first, departs
from it where those jobs say so, and learns where that pays (residual policy learning: Silver et al., 2018; Johannink et al.,
ICRA 2019). When the forecasts of a workload show that its world has changed, what it taught is forgotten (change_detection.py).
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import torch

from jpo.agent.change_detection import Chart
from jpo.agent.policy import SCORE_HERE, Policy
from jpo.agent.sac.candidate_set import Learner, new_learner, update, with_optimiser
from jpo.agent.sac.fork_replay import ForkBatch, ForkReplay, Practice
from jpo.agent.sac.networks import Tensors
from jpo.agent.sac.replay_buffer import Batch, ReplayBuffer, Transition, concatenate
from jpo.agent.state import BOUND

MEMBERS = 3
"""Networks of twin critics that decide together: single ones differ by more than what there is to gain."""
BATCH, FORKS = 64, 64
REAL_BEFORE_HALF = 16
"""Fewer real transitions than this are shown in proportion, or the networks would learn them by heart."""
UPDATES_PER_RUN = 8
Step = Callable[[Learner, Batch | None, ForkBatch | None], object]
"""One gradient step: `candidate_set.update`, or that of an alternative."""
Practise = Callable[[Policy, np.random.Generator], Practice]
"""Plays one simulated job with this policy, stochastically."""


@dataclass(frozen=True, slots=True)
class WorkloadProgress:
    """What the agent has taken in of one workload: how many runs after its reference, in the order of its history, and a digest
    of them, by which its owner knows whether they still are the beginning of the history."""

    runs: int = 0
    history: str = ""


@dataclass(eq=False, slots=True)
class AgentState:
    """State of the agent while it learns.

    Attributes:
        learners: MEMBERS of them.
        real, simulated: replays of transitions; forks: of forks.
        rng: draws batches and simulated jobs.
        progress: by workload.
        charts: of the forecast errors, by workload.
        resets: how often the world of a workload had changed, or the agent began anew.
    """

    learners: list[Learner]
    real: ReplayBuffer
    simulated: ReplayBuffer
    forks: ForkReplay
    rng: np.random.Generator
    progress: dict[str, WorkloadProgress] = field(default_factory=dict)
    charts: dict[str, Chart] = field(default_factory=dict)
    resets: int = 0

    @property
    def updates(self) -> int:
        """Gradient steps of each member since the agent began."""
        return self.learners[0].updates


def new_agent(
    seed: int,
    *,
    start: Policy | None = None,
    members: int = MEMBERS,
    real_capacity: int = 256,
    simulated_capacity: int = 128,
    fork_capacity: int = 512,
) -> AgentState:
    """An agent that decides as the belief rule does, or as the policy `start`."""
    rng = np.random.default_rng(seed)
    replays = ReplayBuffer(real_capacity), ReplayBuffer(simulated_capacity), ForkReplay(fork_capacity)
    return AgentState(_begin(seed, start, members), *replays, rng)


def learn(
    state: AgentState,
    transitions: Iterable[Transition | None],
    practise: Practise,
    *,
    workload: str = "",
    out_of_time: Callable[[], bool],
    start: Policy | None = None,
    begin_anew: Iterable[bool] | None = None,
) -> int:
    """Take in real runs one after the other, each with a simulated job next to it and UPDATES_PER_RUN updates.

    Args:
        transitions: runs of `workload` not learnt before, oldest first; None for one that teaches nothing.
        out_of_time: asked before each run; True leaves the rest for the next time.
        start: what the agent begins anew from; None = the belief rule.
        begin_anew: before which runs it does; None: never. What the workload taught is forgotten where its forecast errors say
            that the world has changed.

    Returns the number of runs taken in.
    """
    taken = 0
    for transition, reset in zip(transitions, itertools.repeat(None) if begin_anew is None else begin_anew, strict=False):
        if out_of_time():
            break
        if transition is not None:
            if reset is None:
                _watch(state, transition, workload)
            elif reset:
                state.resets += 1
                state.charts.clear()
                state.learners = _begin(state.resets, start, len(state.learners))
                state.real = ReplayBuffer(state.real.capacity)
            state.real.add([transition], workload)
            take_in(state, practise(policy_of(state), state.rng))
            improve(state, UPDATES_PER_RUN)
        taken += 1
    return taken


def learnt_again(
    state: AgentState,
    seed: int,
    practise: Practise,
    *,
    workload: str,
    start: Policy | None = None,
    out_of_time: Callable[[], bool] = lambda: False,
) -> AgentState | None:
    """A new agent that has forgotten one workload, and learnt again from what the replay holds of the others' runs.

    None where the time was up before: an agent that learnt again by half would replace one that knows all of it.
    """
    new = new_agent(seed, start=start, members=len(state.learners))
    new.real = state.real
    new.real.forget(workload)
    new.progress = {name: progress for name, progress in state.progress.items() if name != workload}
    new.charts = {name: chart for name, chart in state.charts.items() if name != workload}
    for _ in range(new.real.size):
        if out_of_time():
            return None
        take_in(new, practise(policy_of(new), new.rng))
        improve(new, UPDATES_PER_RUN)
    return new


def take_in(state: AgentState, practice: Practice) -> None:
    state.simulated.add(practice.transitions)
    state.forks.add(practice.forks)


def improve(state: AgentState, updates: int, step: Step = update) -> None:
    """Gradient steps of every member, each on batches of its own; none where nothing was practised."""
    if not (state.simulated.size or state.forks.size):
        return
    for _ in range(updates):
        for learner in state.learners:
            step(learner, _mixed(state, BATCH), state.forks.sample(FORKS, state.rng) if state.forks.size else None)


def policy_of(state: AgentState) -> Policy:
    """The present networks for numpy, not released: only the release test may say so."""
    members = tuple(
        {name: tensor.detach().numpy().copy() for name, tensor in learner.critics.items()} for learner in state.learners
    )
    return Policy(members, released=(), card={})


def _watch(state: AgentState, transition: Transition, workload: str) -> None:
    """Note the run's forecast error; on the alarm forget this workload's runs of the old world.

    For other workloads nothing changes: what they taught, and the networks, stay.
    """
    chart = state.charts.get(workload, Chart()).after(transition.miss)
    state.charts[workload] = Chart() if chart.alarm else chart
    if chart.alarm:
        state.resets += 1
        state.real.forget(workload)


def _mixed(state: AgentState, n: int) -> Batch | None:
    """Half real, half simulated; less real while there are few, none while there are none."""
    real = min(n // 2, n * state.real.size // (2 * REAL_BEFORE_HALF))
    if not state.simulated.size:
        return state.real.sample(n, state.rng) if real else None
    if not real:
        return state.simulated.sample(n, state.rng)
    return concatenate(state.real.sample(real, state.rng), state.simulated.sample(n - real, state.rng))


def _begin(seed: int, start: Policy | None, members: int) -> list[Learner]:
    if start is not None:
        tensors = [{name: torch.from_numpy(array.copy()) for name, array in member.items()} for member in start.members]
        return [with_optimiser(critics, {name: value.clone() for name, value in critics.items()}) for critics in tensors]
    learners = [new_learner(seed * members + member) for member in range(members)]
    for learner in learners:
        for network in (learner.critics, learner.targets):
            _carry_score(network)
    return learners


def _carry_score(critics: Tensors) -> None:
    """Let the first unit of each layer hold the rule's score on this installation + BOUND, which ReLU never cuts; the output is
    minus it, plus what the other units say, which is next to nothing at first."""
    w0, b0, w1, b1, w2 = (critics[f"critics.{name}"] for name in ("w0", "b0", "w1", "b1", "w2"))
    w0[..., :, 0], b0[..., 0] = 0.0, BOUND
    w0[..., SCORE_HERE, 0] = 1.0
    w1[..., :, 0], w1[..., 0, :], b1[..., 0] = 0.0, 0.0, 0.0
    w1[..., 0, 0] = 1.0
    w2[..., 0, 0] = -1.0
