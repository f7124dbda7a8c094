"""Soft actor-critic for numbered actions.

Source: Christodoulou, "Soft Actor-Critic for Discrete Action Settings", 2019. The target entropy is a share of that of a uniform
choice among the open actions, which differ from decision to decision.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from jpo.plugins.cluster.agents.base import LivedEpisode
from jpo.plugins.cluster.agents.networks import JobScores, open_only
from jpo.plugins.cluster.agents.reinforce import Reinforce
from jpo.plugins.cluster.environment.episode import EpisodeOptions

CAPACITY = 50_000
BATCH = 256
UPDATES = 32
"""Steps after each batch of episodes."""
TAU = 0.01
ENTROPY_SHARE = 0.15
Transition = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]
"""seen, masks, actions, rewards, next seen, next masks, whether it went on."""


class DiscreteSac(Reinforce):
    """Two critics, an actor, and a temperature that is learnt."""

    def __init__(
        self, options: EpisodeOptions | None = None, *, hidden: int = 32, lr: float = 1e-3, gamma: float = 0.99, seed: int = 0
    ) -> None:
        super().__init__(options, hidden=hidden, lr=lr, gamma=gamma, seed=seed)
        actions, pairs = self.options.actions, self.options.mode == "pair"
        self.critics = [JobScores(actions, hidden, pairs=pairs) for _ in range(2)]
        self.targets = [JobScores(actions, hidden, pairs=pairs) for _ in range(2)]
        for place, (critic, target) in enumerate(zip(self.critics, self.targets, strict=True)):
            target.load_state_dict(critic.state_dict())
            self.networks |= {f"critic_{place}": critic, f"target_{place}": target}
            self.optimisers[f"critic_{place}"] = torch.optim.Adam(critic.parameters(), lr=lr)
        self.log_alpha = torch.tensor(-3.0)
        self._replay: list[Transition] = []
        self._rng = np.random.default_rng(seed)

    def learn(self, experiences: Sequence[LivedEpisode]) -> Mapping[str, float]:
        self._replay += [_transitions(one) for one in experiences if len(one.rewards)]
        while sum(len(part[2]) for part in self._replay) > CAPACITY:
            del self._replay[0]
        everything = [torch.cat(column) for column in zip(*self._replay, strict=True)]
        figures: dict[str, float] = {}
        for _ in range(UPDATES):
            rows = torch.from_numpy(self._rng.integers(len(everything[2]), size=BATCH))
            figures = self._update(*(column[rows] for column in everything))
        return figures

    def _update(
        self, seen: Tensor, masks: Tensor, actions: Tensor, rewards: Tensor, then: Tensor, then_masks: Tensor, on: Tensor
    ) -> dict[str, float]:
        alpha = self.log_alpha.exp()
        with torch.no_grad():
            logs = open_only(self.policy(then), then_masks).log_softmax(dim=1)
            least = torch.minimum(self.targets[0](then), self.targets[1](then))
            value = (logs.exp() * (least - alpha * logs.clamp(min=-50))).sum(dim=1)
            target = rewards + self.gamma * on * value
        for place, critic in enumerate(self.critics):
            error = (critic(seen).gather(1, actions.unsqueeze(1)).squeeze(1) - target).square().mean()
            self.step(f"critic_{place}", error)
        with torch.no_grad():
            least = torch.minimum(self.critics[0](seen), self.critics[1](seen))
        logs = open_only(self.policy(seen), masks).log_softmax(dim=1)
        shares = logs.exp()
        self.step("policy", (shares * (alpha * logs.clamp(min=-50) - least)).sum(dim=1).mean())
        entropy = -(shares * logs.clamp(min=-50)).sum(dim=1).detach()
        wanted = ENTROPY_SHARE * masks.sum(dim=1).clamp(min=1).float().log()
        self.log_alpha = (self.log_alpha - self.lr * (entropy - wanted).mean()).clamp(-9.0, 1.0)
        with torch.no_grad():
            for critic, slow in zip(self.critics, self.targets, strict=True):
                for new, old in zip(critic.parameters(), slow.parameters(), strict=True):
                    old.lerp_(new, TAU)
        return {"entropy": float(entropy.mean()), "alpha": float(alpha)}


def _transitions(one: LivedEpisode) -> Transition:
    seen, masks = torch.from_numpy(one.seen), torch.from_numpy(one.masks)
    on = torch.ones(len(one.rewards))
    on[-1] = 0.0
    rewards = torch.from_numpy((one.rewards * len(one.rewards)).astype(np.float32))  # near -1 each, so that critics see them
    return seen, masks, torch.from_numpy(one.actions), rewards, seen.roll(-1, 0), masks.roll(-1, 0), on
