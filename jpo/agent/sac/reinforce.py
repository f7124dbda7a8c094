"""Policy gradient without a Bellman equation, for comparison with candidate_set.py: same networks and batch.

What the networks answer for a candidate is the logit of running it, in runs / TEMPERATURE, so that the result is served like any
other policy. Each run counts as an episode of its own, so that its reward is its return; the baseline is the batch's mean. The
replay holds runs which earlier policies chose; how likely they were to choose them is not recorded: the gradient is that of an
imitation weighted by success, and is biased. candidate_set.py has no such trouble.

Source: Williams, "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning", 1992.
"""

import torch
from torch import Tensor

from jpo.agent.policy import SCORE, TEMPERATURE
from jpo.agent.sac.candidate_set import Learner, spread
from jpo.agent.sac.fork_replay import ForkBatch
from jpo.agent.sac.replay_buffer import Batch


def update(learner: Learner, batch: Batch | None, _forks: ForkBatch | None) -> tuple[Tensor, Tensor]:
    """Make one gradient step, as `candidate_set.update` does; forks are no episodes. Returns its loss and 0, each of shape ()."""
    if batch is None:
        return torch.zeros(()), torch.zeros(())
    features, allowed = torch.from_numpy(batch.features), torch.from_numpy(batch.allowed)  # (B, K, WIDTH), (B, K)
    executed, reward = torch.from_numpy(batch.executed)[:, None], torch.from_numpy(batch.reward)[:, None]
    advantage = (reward - reward.mean()) * allowed.gather(1, executed)  # what is not allowed cannot be made likelier

    # J = E[-advantage log pi(a|s) + alpha KL(pi || pi0)], pi0 the belief rule's softmax as in candidate_set.py
    seen = learner.critics.forward(features[allowed])
    logits = spread(seen[-1][..., 0], allowed) / TEMPERATURE - features[..., SCORE] / TEMPERATURE  # (heads, B, K)
    relative = (logits.masked_fill(~allowed, -torch.inf)).log_softmax(dim=2)
    anchor = (-features[..., SCORE] / TEMPERATURE).masked_fill(~allowed, -torch.inf).log_softmax(dim=1)
    pi, gain = relative.exp(), (relative - anchor).masked_fill(~allowed, 0.0)
    divergence = (pi * gain).sum(dim=2, keepdim=True)  # (heads, B, 1)
    chosen = torch.zeros_like(pi[0]).scatter_(1, executed, 1.0)
    j = TEMPERATURE * divergence[..., 0] - advantage.T * (relative * chosen).nan_to_num(neginf=0.0).sum(dim=2)
    slope = advantage * (pi - chosen) + TEMPERATURE * pi * (gain - divergence)  # dJ / d logits
    learner.critics.backward(seen, (slope / (TEMPERATURE * pi[..., 0].numel()))[:, allowed][..., None])
    learner.optimiser.step()
    learner.updates += 1
    return j.mean(), torch.zeros(())
