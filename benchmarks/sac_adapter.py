"""JPO's soft actor-critic behind three methods, so that any benchmark or judge can time it and train with it.

    agent = make(obs_dim=3, act_dim=1, hidden=(64, 64), seed=0)
    action = agent.act(obs)                                 # within -1..1; scaling to the environment is the caller's business
    agent.add(obs, action, reward, next_obs, terminated)    # the action as `act` gave it
    agent.update(batch_size=128)                            # one gradient update of critics, actor, temperature and targets

One seed gives one agent, bit by bit, as long as the same calls follow each other. It uses as many threads as torch is set to;
with networks this small one is fastest: `torch.set_num_threads(1)`.

Settings: Adam 1e-3 for everything, gamma 0.99, tau 0.005, target entropy -act_dim, 1,000,000 transitions. Rewards are scaled
by their root mean square so far, so that their unit does not matter.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout's jpo, also where it is not installed

from jpo.agent.sac.box import act, new_box_learner, update
from jpo.agent.sac.box_replay import BoxReplay

RATE = 1e-3
GAMMA = 0.99
TAU = 0.005
CAPACITY = 1_000_000


class Agent:
    """A learner with its replay."""

    def __init__(self, obs_dim: int, act_dim: int, hidden: Sequence[int], seed: int) -> None:
        self.learner = new_box_learner(obs_dim, act_dim, hidden=hidden, seed=seed, rate=RATE, gamma=GAMMA, tau=TAU)
        self.replay = BoxReplay(obs_dim, act_dim, CAPACITY, seed)

    def add(
        self,
        obs: ArrayLike,
        action: ArrayLike,
        reward: ArrayLike,
        next_obs: ArrayLike,
        terminated: ArrayLike = False,
        *,
        done: ArrayLike | None = None,
    ) -> None:
        """Store one transition, or n at once.

        Args:
            obs, next_obs: obs_dim numbers, or shape (n, obs_dim).
            action: act_dim numbers within -1..1, or shape (n, act_dim); a plain number where act_dim is 1.
            reward: one number, or n.
            terminated: nothing follows. A time limit (`truncated`) is no end: say False, and what follows is bootstrapped.
            done: another name for `terminated`.

        Raises:
            ValueError: a shape does not fit, or a number is not finite.
        """
        states, actions = self.replay.states, self.replay.actions
        before, after = (np.asarray(given, np.float32).reshape(-1, states) for given in (obs, next_obs))
        executed = np.asarray(action, np.float32).reshape(-1, actions)
        rewards = np.asarray(reward, float).reshape(-1)
        ends = np.broadcast_to(np.asarray(terminated if done is None else done, bool), rewards.shape)
        for row in zip(before, executed, rewards, after, ends, strict=True):
            if not all(np.isfinite(part).all() for part in row):
                raise ValueError("a transition holds a number that is not finite")
            self.replay.add(*row)

    def update(self, batch_size: int = 64) -> None:
        """Make one gradient update on `batch_size` stored transitions, drawn with replacement.

        Raises:
            ValueError: nothing was added before.
        """
        if not self.replay.size:
            raise ValueError("no transition to learn from; call add() before update()")
        update(self.learner, self.replay.sample(batch_size))

    def act(self, obs: ArrayLike, deterministic: bool = False) -> NDArray[np.float32]:
        """The action, shape (act_dim,), within -1..1; for n observations, shape (n, obs_dim), it is (n, act_dim).

        Args:
            deterministic: the squashed mean, for evaluation; else a draw, for exploration.
        """
        import torch

        given = np.asarray(obs, np.float32)
        states = torch.from_numpy(np.ascontiguousarray(given.reshape(-1, self.replay.states)))
        actions: NDArray[np.float32] = act(self.learner, states, deterministic=deterministic).numpy()
        return actions[0] if given.ndim == 1 else actions


def make(obs_dim: int, act_dim: int, hidden: int | Sequence[int] = (64, 64), seed: int = 0) -> Agent:
    """A fresh agent.

    Args:
        obs_dim, act_dim: widths of observation and action.
        hidden: widths of the hidden layers, e.g. (64, 64); a number means two of that width.
        seed: of networks, exploration and batches.
    """
    return Agent(obs_dim, act_dim, (hidden, hidden) if isinstance(hidden, int) else tuple(hidden), seed)
