"""Soft actor-critic over a set of candidates, anchored to the belief rule: one update. box.py does the same for actions in a box.

Over a finite set the actor of least KL divergence has a closed form, pi(a|s) ~ pi0(a|s) exp(Q(s, a) / alpha), with pi0 the
softmax of the rule's scores: no network of its own has to learn it, and the agent begins as the rule. Critics learn
from two things: transitions, by the soft Bellman equation; and forks, where a simulator has run several candidates from one state
with the same luck, so that their difference is known with a fraction of the noise of a return.

Source: Haarnoja et al., "Soft Actor-Critic", ICML 2018, equations 2 to 10; Christodoulou, "Soft Actor-Critic for Discrete Action
Settings", 2019; KL to an anchor instead of entropy: Levine, "Reinforcement Learning and Control as Probabilistic Inference",
2018. Common luck: Law, "Simulation Modeling and Analysis", 11.2.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from jpo.agent.policy import SCORE, TEMPERATURE
from jpo.agent.sac.adam import Adam
from jpo.agent.sac.fork_replay import ForkBatch
from jpo.agent.sac.networks import Perceptron, Tensors, initial
from jpo.agent.sac.replay_buffer import Batch

GAMMA = 0.92
"""About 12 further runs count."""
TAU = 0.01
RATE = 3e-4
HUBER = 1.0
"""Errors of a critic beyond this, in runs, count linearly: one lost run teaches no more than it should."""
OF_TRANSITIONS = 0.1
"""Weight of the Bellman errors against those of the forks, whose noise is a fraction of theirs."""


@dataclass(eq=False, slots=True)
class Learner:
    """Learner over candidates: everything that an update changes."""

    critics: Perceptron
    targets: Perceptron
    optimiser: Adam
    updates: int = 0


def new_learner(seed: int) -> Learner:
    """A learner with fresh networks; one seed gives one learner."""
    critics = initial(torch.Generator().manual_seed(seed))
    return with_optimiser(critics, {name: value.clone() for name, value in critics.items()})


def with_optimiser(critics: Tensors, targets: Tensors) -> Learner:
    """A learner of these tensors, which become its own."""
    return Learner(Perceptron("critics", critics), Perceptron("critics", targets), Adam(critics.values(), RATE))


def update(learner: Learner, batch: Batch | None, forks: ForkBatch | None) -> tuple[Tensor, Tensor]:
    """Make one gradient step with the critics, and let the targets follow.

    Returns the losses of transitions and of forks, each of shape (); 0 for what was not given.
    """
    rows: list[Tensor] = []
    slopes: list[Tensor] = []
    losses = [torch.zeros(()), torch.zeros(())]
    y = None if batch is None else soft_values(learner.targets, batch)  # (B,)
    if batch is not None:
        rows.append(torch.from_numpy(batch.features)[torch.arange(len(batch.executed)), torch.from_numpy(batch.executed)])
    if forks is not None:
        rows.append(torch.from_numpy(forks.features)[torch.from_numpy(forks.there)])
    seen = learner.critics.forward(torch.cat(rows))
    q = seen[-1][..., 0]  # (heads, n)
    if y is not None:
        error = q[:, : len(y)] - y
        losses[0] = error.square().mean() / 2
        slopes.append(OF_TRANSITIONS * error.clamp(-HUBER, HUBER) / error.numel())
    if forks is not None:
        there, saved = torch.from_numpy(forks.there), torch.from_numpy(forks.saved)  # (F, n) each
        values = spread(q[:, q.shape[1] - int(there.sum()) :], there)  # (heads, F, n), the rule's choice first
        error = (values - values[..., :1] - saved) * there
        losses[1] = error.square().sum() / (2 * there.sum() * len(q))
        slope = error.clamp(-HUBER, HUBER) / (there.sum() * len(q))
        slope[..., 0] = -slope[..., 1:].sum(-1)
        slopes.append(slope[:, there])
    learner.critics.backward(seen, torch.cat(slopes, dim=1)[..., None])
    learner.optimiser.step()
    follow(learner.targets, learner.critics, TAU)
    learner.updates += 1
    return losses[0], losses[1]


def soft_values(targets: Perceptron, batch: Batch) -> Tensor:
    """y = r + gamma V(s'), V(s') = alpha log sum_a pi0(a|s') exp(min_i Q'_i(s', a) / alpha), shape (B,)."""
    following, allowed = torch.from_numpy(batch.next_features), torch.from_numpy(batch.next_allowed)
    q = spread(targets.forward(following[allowed])[-1].amin(0).T, allowed)[0]  # (B, K); what is not allowed is not computed
    log_anchor = torch.log_softmax((-following[..., SCORE] / TEMPERATURE).masked_fill(~allowed, -torch.inf), dim=1)
    v = TEMPERATURE * torch.logsumexp(log_anchor + q / TEMPERATURE, dim=1)
    return torch.from_numpy(batch.reward) + GAMMA * (1 - torch.from_numpy(batch.terminated)) * v


def fit(critics: Perceptron, optimiser: Adam, x: Tensor, y: Tensor) -> Tensor:
    """Move both critics one step towards y, (n, 1), where they are given x, (n, inputs): the loss is half the squared error, mean
    over both and n. Returns the errors before the step, Q - y, shape (2, n, 1)."""
    seen = critics.forward(x)
    error = seen[-1] - y
    critics.backward(seen, error / error.numel())
    optimiser.step()
    return error


def follow(targets: Perceptron, critics: Perceptron, tau: float) -> None:
    """Target networks follow the critics: Q'_i <- (1 - tau) Q'_i + tau Q_i."""
    targets.flat.lerp_(critics.flat, tau)


def spread(values: Tensor, there: Tensor) -> Tensor:
    """Give each row that is there its value, in order, 0 to the others: (heads, N) -> (heads, B, K)."""
    table = torch.zeros(len(values), *there.shape)
    table[:, there] = values
    return table
