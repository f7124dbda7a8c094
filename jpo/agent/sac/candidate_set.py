"""Soft actor-critic over a set of candidates: one update, in the order of the paper. box.py does the same for actions in a box.

Source: Haarnoja et al., "Soft Actor-Critic", ICML 2018; the discrete form with exact expectations from Christodoulou, "Soft
Actor-Critic for Discrete Action Settings", 2019. The temperature is fixed: the number of candidates differs from state to state,
so that no single target entropy fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import huber_loss

from jpo.agent.sac.networks import Perceptron, Tensors, initial
from jpo.agent.sac.replay_buffer import Batch

GAMMA = 0.92
"""About 12 further runs count."""
TAU = 0.01
ALPHA = 0.02
"""Temperature, in units of the reward (1 = one optimal run wasted)."""
ACTOR_RATE = 3e-4
CRITIC_RATE = 6e-4
HUBER = 1.0
"""Errors of a critic beyond this count linearly: one lost run teaches no more than it should."""


@dataclass(eq=False, slots=True)
class Learner:
    """Learner over candidates: everything that an update changes."""

    actor: Perceptron
    critics: Perceptron
    targets: Perceptron
    actor_optimiser: torch.optim.Adam
    critic_optimiser: torch.optim.Adam
    updates: int = 0


def new_learner(seed: int) -> Learner:
    """A learner with fresh networks; one seed gives one learner."""
    generator = torch.Generator().manual_seed(seed)
    actor, critics = initial(generator, "actor"), initial(generator, "critics")
    return with_optimisers(actor, critics, {name: value.clone() for name, value in critics.items()})


def with_optimisers(actor: Tensors, critics: Tensors, targets: Tensors) -> Learner:
    """A learner of these tensors, which become its own."""
    return Learner(
        Perceptron("actor", actor),
        Perceptron("critics", critics),
        Perceptron("critics", targets),
        adam(actor.values(), ACTOR_RATE),
        adam(critics.values(), CRITIC_RATE),
    )


def update(learner: Learner, batch: Batch) -> tuple[Tensor, Tensor]:
    """Make one gradient step with critics, actor and targets. Returns the two losses (critics, actor), each of shape ()."""
    observed, allowed = torch.from_numpy(batch.features), torch.from_numpy(batch.allowed)
    following, next_allowed = torch.from_numpy(batch.next_features), torch.from_numpy(batch.next_allowed)
    n = len(batch.reward)

    # y = r + gamma V(s'),  V(s') = sum_a pi(a|s') (min_i Q'_i(s', a) - alpha log pi(a|s'))
    rows = following[next_allowed]  # (N', WIDTH), N' <= B K: what is not allowed is not computed
    next_pi, next_log_pi = probabilities(learner.actor.forward(rows)[-1], next_allowed)
    next_q = spread(learner.targets.forward(rows)[-1].amin(0), next_allowed, 0.0)  # (B, K)
    next_v = (next_pi * (next_q - ALPHA * next_log_pi)).sum(dim=1)  # (B,)
    y = torch.from_numpy(batch.reward) + GAMMA * (1 - torch.from_numpy(batch.terminated)) * next_v

    # J_Q: Huber distance of both critics to y, on the candidate that was executed
    executed = observed[torch.arange(n), torch.from_numpy(batch.executed)]  # (B, WIDTH)
    error = fit(learner.critics, learner.critic_optimiser, executed, y[:, None], huber=HUBER)

    # J_pi = E_s sum_a pi(a|s) (alpha log pi(a|s) - min_i Q_i(s, a));  with g the bracket, dJ / d logit_a = pi_a (g_a - sum pi g)
    rows = observed[allowed]  # (N, WIDTH)
    seen = learner.actor.forward(rows)
    pi, log_pi = probabilities(seen[-1], allowed)  # (B, K)
    g = ALPHA * log_pi - spread(learner.critics.forward(rows)[-1].amin(0), allowed, 0.0)
    j = (pi * g).sum(dim=1, keepdim=True)  # (B, 1)
    learner.actor.backward(seen, (pi * (g - j) / n)[allowed][None, :, None])
    learner.actor_optimiser.step()

    follow(learner.targets, learner.critics, TAU)
    learner.updates += 1
    return huber_loss(error, torch.zeros_like(error), delta=HUBER), j.mean()


def fit(critics: Perceptron, optimiser: torch.optim.Adam, x: Tensor, y: Tensor, *, huber: float | None = None) -> Tensor:
    """Move both critics one step towards y. The loss is half the squared error, mean over both and n.

    Args:
        x: what the critics are given, shape (n, inputs).
        y: what they should have answered, shape (n, 1).
        huber: beyond this error the loss goes on linearly; None: it does not.

    Returns:
        Errors before the step, Q - y, shape (2, n, 1).
    """
    seen = critics.forward(x)
    error = seen[-1] - y
    slope = error if huber is None else error.clamp(-huber, huber)
    critics.backward(seen, slope / error.numel())
    optimiser.step()
    return error


def follow(targets: Perceptron, critics: Perceptron, tau: float) -> None:
    """Target networks follow the critics: Q'_i <- (1 - tau) Q'_i + tau Q_i."""
    targets.flat.lerp_(critics.flat, tau)


def adam(parameters: Iterable[Tensor], rate: float) -> torch.optim.Adam:
    """Adam in one pass per tensor. It takes what is in each `.grad`, a Perceptron's slopes: never zero_grad() them away."""
    return torch.optim.Adam(list(parameters), lr=rate, fused=True)


def probabilities(logits: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """pi and log pi over the candidates, both (B, K), from the logits of the allowed ones; not allowed: pi = 0, log pi = 0."""
    log_pi = torch.log_softmax(spread(logits, allowed, -torch.inf), dim=1)
    return log_pi.exp(), log_pi.masked_fill(~allowed, 0.0)


def spread(values: Tensor, allowed: Tensor, absent: float) -> Tensor:
    """Give each allowed candidate its value, in order: N values in any shape -> (B, K)."""
    table = torch.full(allowed.shape, absent)
    table[allowed] = values.reshape(-1)
    return table
