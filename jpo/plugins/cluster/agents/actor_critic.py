"""Actor-critic: REINFORCE with a critic that says what was to be expected, and clipped steps over the same episodes.

Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017; generalised advantages: Schulman et al., ICLR 2016.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from jpo.plugins.cluster.agents.base import LivedEpisode
from jpo.plugins.cluster.agents.networks import StateValue, open_only
from jpo.plugins.cluster.agents.reinforce import ENTROPY, Reinforce, discounted, gathered

LAMBDA = 0.97
CLIP = 0.2
ROUNDS = 8
"""Steps over the same episodes."""


class ActorCritic(Reinforce):
    """Policy gradient with a critic."""

    def begin(self) -> None:
        super().begin()
        self.critic = StateValue(self.hidden)
        self.networks["critic"] = self.critic
        self.optimisers["critic"] = torch.optim.Adam(self.critic.parameters(), lr=self.lr)

    def learn(self, experiences: Sequence[LivedEpisode]) -> Mapping[str, float]:
        seen, masks, actions = gathered(experiences)
        with torch.no_grad():
            values = self.critic(seen).numpy()
            before = open_only(self.policy(seen), masks).log_softmax(dim=1).gather(1, actions.unsqueeze(1)).squeeze(1)
        parts = np.split(values, np.cumsum([len(one.rewards) for one in experiences])[:-1])
        advantages, targets = [], []
        for one, value in zip(experiences, parts, strict=True):
            errors = one.rewards + self.gamma * np.append(value[1:], 0.0) - value
            advantages.append(discounted(errors, self.gamma * LAMBDA))
            targets.append(discounted(one.rewards, self.gamma))
        advantage = torch.from_numpy(np.concatenate(advantages).astype(np.float32))
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        target = torch.from_numpy(np.concatenate(targets).astype(np.float32))
        for _ in range(ROUNDS):
            logs = open_only(self.policy(seen), masks).log_softmax(dim=1)
            ratio = (logs.gather(1, actions.unsqueeze(1)).squeeze(1) - before).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            entropy = -(logs.exp() * logs.clamp(min=-50)).sum(dim=1).mean()
            self.step("policy", -gain - ENTROPY * entropy)
            error = (self.critic(seen) - target).square().mean()
            self.step("critic", error)
        return {"entropy": float(entropy.detach()), "critic_error": float(error.detach())}
