"""Soft actor-critic over a set of candidates: one update, in the order of the paper.

Source: Haarnoja et al., "Soft Actor-Critic", ICML 2018; the discrete form with exact expectations from Christodoulou, "Soft
Actor-Critic for Discrete Action Settings", 2019. The temperature is fixed: the number of candidates differs from state to state,
so that no single target entropy fits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import smooth_l1_loss

from jpo.agent.networks import Parameters, initial, score
from jpo.agent.replay_buffer import Batch

GAMMA = 0.92
"""About 12 further runs count."""
TAU = 0.01
ALPHA = 0.02
"""Temperature, in units of the reward (1 = one optimal run wasted)."""
ACTOR_RATE = 3e-4
CRITIC_RATE = 6e-4


@dataclass(eq=False, slots=True)
class Learner:
    """Everything that an update changes."""

    actor: Parameters
    critics: Parameters
    targets: Parameters
    actor_optimiser: torch.optim.Adam
    critic_optimiser: torch.optim.Adam
    updates: int = 0


def new_learner(seed: int) -> Learner:
    """A learner with fresh networks; one seed gives one learner."""
    generator = torch.Generator().manual_seed(seed)
    actor, critics = initial(generator, "actor"), initial(generator, "critics")
    return with_optimisers(actor, critics, {name: value.clone() for name, value in critics.items()})


def with_optimisers(actor: Parameters, critics: Parameters, targets: Parameters) -> Learner:
    for parameter in (*actor.values(), *critics.values()):
        parameter.requires_grad_(True)
    return Learner(
        actor,
        critics,
        targets,
        torch.optim.Adam(list(actor.values()), lr=ACTOR_RATE),
        torch.optim.Adam(list(critics.values()), lr=CRITIC_RATE),
    )


def update(learner: Learner, batch: Batch) -> tuple[float, float]:
    """Make one gradient step with critics, actor and targets. Returns the two losses (critics, actor)."""
    observed, following = torch.from_numpy(batch.features), torch.from_numpy(batch.next_features)
    allowed, next_allowed = torch.from_numpy(batch.allowed), torch.from_numpy(batch.next_allowed)

    # y = r + gamma V(s'),  V(s') = sum_a pi(a|s') (min_i Q'_i(s', a) - alpha log pi(a|s'))
    with torch.no_grad():
        next_pi, next_log_pi = _policy(score(learner.actor, "actor", following), next_allowed)
        next_q = score(learner.targets, "critics", following).amin(dim=0)  # (B, K)
        next_v = (next_pi * (next_q - ALPHA * next_log_pi)).sum(dim=1)  # (B,)
        y = torch.from_numpy(batch.reward) + GAMMA * (1 - torch.from_numpy(batch.terminated)) * next_v

    # J_Q: Huber distance of both critics to y, on the candidate that was executed
    rows = torch.arange(len(y))
    executed = observed[rows, torch.from_numpy(batch.executed)][:, None]  # (B, 1, 30)
    q = score(learner.critics, "critics", executed)[..., 0]  # (2, B)
    critic_loss = smooth_l1_loss(q, y.expand_as(q))
    learner.critic_optimiser.zero_grad(set_to_none=True)
    critic_loss.backward()  # type: ignore[no-untyped-call]
    learner.critic_optimiser.step()

    # J_pi = E_s sum_a pi(a|s) (alpha log pi(a|s) - min_i Q_i(s, a))
    with torch.no_grad():
        min_q = score(learner.critics, "critics", observed).amin(dim=0)  # (B, K)
    pi, log_pi = _policy(score(learner.actor, "actor", observed), allowed)
    actor_loss = (pi * (ALPHA * log_pi - min_q)).sum(dim=1).mean()
    learner.actor_optimiser.zero_grad(set_to_none=True)
    actor_loss.backward()  # type: ignore[no-untyped-call]
    learner.actor_optimiser.step()

    # Q'_i <- (1 - tau) Q'_i + tau Q_i
    with torch.no_grad():
        for name, target in learner.targets.items():
            target.lerp_(learner.critics[name], TAU)
    learner.updates += 1
    return float(critic_loss.detach()), float(actor_loss.detach())


def _policy(logits: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """pi and log pi over the allowed candidates, both (B, K); not allowed: pi = 0, log pi = 0."""
    log_pi = torch.log_softmax(logits.masked_fill(~allowed, -torch.inf), dim=1)
    return log_pi.exp(), log_pi.masked_fill(~allowed, 0.0)
