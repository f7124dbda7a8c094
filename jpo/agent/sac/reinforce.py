"""Policy gradient without critics, for comparison with candidate_set.py: same learner and batch, but it moves the actor alone.

Each run counts as an episode of its own, so that its reward is its return; the baseline is the batch's mean. The replay holds
runs which earlier policies chose, and how likely they were to choose them is not recorded: the gradient is that of an imitation
weighted by success, and is biased. sac.py has no such trouble.

Source: Williams, "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning", 1992.
"""

from __future__ import annotations

import torch
from torch import Tensor

from jpo.agent.sac.candidate_set import ALPHA, Learner, probabilities
from jpo.agent.sac.replay_buffer import Batch


def update(learner: Learner, batch: Batch) -> tuple[Tensor, Tensor]:
    """Make one gradient step with the actor, as `candidate_set.update` does. Returns 0 and its loss, each of shape ()."""
    allowed, executed = torch.from_numpy(batch.allowed), torch.from_numpy(batch.executed)[:, None]  # (B, K), (B, 1)
    reward = torch.from_numpy(batch.reward)[:, None]
    advantage = (reward - reward.mean()) * allowed.gather(1, executed)  # what is not allowed cannot be made likelier

    # J = E[-advantage log pi(a|s) + alpha sum_a pi log pi], the entropy's weight being that of sac.py
    seen = learner.actor.forward(torch.from_numpy(batch.features)[allowed])
    pi, log_pi = probabilities(seen[-1], allowed)  # (B, K)
    negative_entropy = (pi * log_pi).sum(dim=1, keepdim=True)  # (B, 1)
    j = ALPHA * negative_entropy - advantage * log_pi.gather(1, executed)
    chosen = torch.zeros_like(pi).scatter_(1, executed, 1.0)
    slope = advantage * (pi - chosen) + ALPHA * pi * (log_pi - negative_entropy)  # dJ / d logits
    learner.actor.backward(seen, (slope / len(reward))[allowed][None, :, None])
    learner.actor_optimiser.step()
    learner.updates += 1
    return torch.zeros(()), j.mean()
