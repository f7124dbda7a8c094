"""REINFORCE: actions of episodes that went better than others become likelier.

Source: Williams, "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning", 1992; returns
compared with the mean over the episodes of a batch at about the same share of the decisions.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from jpo.plugins.cluster.agents.base import LearningAgent, LivedEpisode, Mask, Seen
from jpo.plugins.cluster.agents.networks import JobScores, open_only

ENTROPY = 1e-3
LARGEST_GRADIENT = 0.5


class Reinforce(LearningAgent):
    """Policy gradient without a critic."""

    def begin(self) -> None:
        torch.manual_seed(self.seed)
        self.policy = JobScores(self.options.actions, self.hidden, pairs=self.options.mode == "pair")
        self.generator = torch.Generator().manual_seed(self.seed)
        self.networks: dict[str, nn.Module] = {"policy": self.policy}
        self.optimisers = {"policy": torch.optim.Adam(self.policy.parameters(), lr=self.lr)}

    def act(self, seen: Seen, masks: Mask, *, explore: bool) -> NDArray[np.int64]:
        with torch.no_grad():
            scores = open_only(self.policy(torch.from_numpy(seen)), torch.from_numpy(masks))
        if not explore:
            best = scores.argmax(dim=1)
            if not self.margin:
                return best.numpy()
            rule = torch.from_numpy(masks.argmax(axis=1))
            gain = scores.gather(1, torch.stack((best, rule), dim=1))
            return torch.where(gain[:, 0] - gain[:, 1] > self.margin, best, rule).numpy()
        return torch.multinomial(scores.softmax(dim=1), 1, generator=self.generator).squeeze(1).numpy()

    def learn(self, experiences: Sequence[LivedEpisode]) -> Mapping[str, float]:
        seen, masks, actions = gathered(experiences)
        returns = [discounted(one.rewards, self.gamma) for one in experiences]
        advantages = torch.from_numpy(np.concatenate(_compared(returns)).astype(np.float32))
        scale = advantages.std() + 1e-6
        logs = open_only(self.policy(seen), masks).log_softmax(dim=1)
        chosen = logs.gather(1, actions.unsqueeze(1)).squeeze(1)
        entropy = -(logs.exp() * logs.clamp(min=-50)).sum(dim=1).mean()
        loss = -(chosen * advantages / scale).mean() - ENTROPY * entropy
        self.step("policy", loss)
        return {"entropy": float(entropy.detach())}

    def step(self, name: str, loss: Tensor) -> None:
        optimiser = self.optimisers[name]
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.networks[name].parameters(), LARGEST_GRADIENT)
        optimiser.step()

    def weights(self) -> dict[str, NDArray[np.float32]]:
        found = {f"{name}.{key}": value for name, net in self.networks.items() for key, value in net.state_dict().items()}
        for name, optimiser in self.optimisers.items():
            for place, state in optimiser.state_dict()["state"].items():
                found |= {f"optimiser.{name}.{place}.{key}": torch.as_tensor(value) for key, value in state.items()}
        return {name: value.detach().numpy().astype(np.float32).copy() for name, value in found.items()}

    def load(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        for name, net in self.networks.items():
            state = {key: torch.from_numpy(np.array(weights[f"{name}.{key}"])) for key in net.state_dict()}
            for key, value in net.state_dict().items():
                if state[key].shape != value.shape:
                    raise ValueError(f"{name}.{key} has another shape")
            net.load_state_dict(state)
        for name, optimiser in self.optimisers.items():
            kept = optimiser.state_dict()
            places = {int(key.split(".")[2]) for key in weights if key.startswith(f"optimiser.{name}.")}
            parts = ("step", "exp_avg", "exp_avg_sq")
            kept["state"] = {
                at: {key: torch.from_numpy(np.array(weights[f"optimiser.{name}.{at}.{key}"])) for key in parts} for at in places
            }
            optimiser.load_state_dict(kept)


def gathered(experiences: Sequence[LivedEpisode]) -> tuple[Tensor, Tensor, Tensor]:
    """All decisions of several episodes: seen, masks, actions."""
    return (
        torch.from_numpy(np.concatenate([one.seen for one in experiences])),
        torch.from_numpy(np.concatenate([one.masks for one in experiences])),
        torch.from_numpy(np.concatenate([one.actions for one in experiences])),
    )


def discounted(rewards: NDArray[np.float64], gamma: float) -> NDArray[np.float64]:
    """What was still to come at each decision, its own reward included."""
    if gamma == 1.0:
        return np.cumsum(rewards[::-1])[::-1]
    returns, later = np.zeros_like(rewards), 0.0
    for place in range(len(rewards) - 1, -1, -1):
        later = rewards[place] + gamma * later
        returns[place] = later
    return returns


def _compared(returns: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Returns less the mean of all episodes at the same share of their decisions."""
    grid = np.linspace(0, 1, 64)
    curves = np.array([np.interp(grid, np.linspace(0, 1, len(one)), one) for one in returns])
    mean = curves.mean(axis=0)
    return [one - np.interp(np.linspace(0, 1, len(one)), grid, mean) for one in returns]
