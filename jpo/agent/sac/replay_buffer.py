"""Replay: a ring of transitions in numpy. Old ones are overwritten when it is full."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.reward import regret_reward
from jpo.agent.state import SHORTLIST, WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.state import Observation
    from jpo.records import Bools, Floats, Preference


@dataclass(frozen=True, eq=False, slots=True)
class Transition:
    """Transition: one run as the agent sees it.

    Attributes:
        seen: the candidates before the run.
        executed: row of `seen.features` that was really run (after the guard, not what the actor wanted).
        reward: shape (6,), see reward.py.
        preference: under which `seen` and `following` were encoded.
        best: log objective of the best known configuration under that preference.
        following: the candidates after the run.
        terminated: nothing follows. A time limit is no end: what follows is then bootstrapped.
        miss: standardised forecast error of the run, see change.py; None = it had none.
    """

    seen: Observation
    executed: int
    reward: Floats
    preference: Preference
    best: float
    following: Observation
    terminated: bool = False
    miss: float | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Batch of B transitions as arrays; the reward is a scalar now."""

    features: NDArray[np.float32]
    """(B, K, WIDTH); rows that do not exist are 0 and not allowed."""
    allowed: Bools
    executed: NDArray[np.int64]
    reward: NDArray[np.float32]
    next_features: NDArray[np.float32]
    next_allowed: Bools
    terminated: NDArray[np.float32]


class ReplayBuffer:
    """Replay of fixed capacity; features are held as float16, which halves them at a loss far below their noise.

    The reward becomes a scalar on entry: features belong to one preference too, so another one means transitions built anew from
    the history, where the vectors are.
    """

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self.written = 0
        self.arrays: dict[str, NDArray[Any]] = {
            "features": np.zeros((capacity, SHORTLIST, WIDTH), np.float16),
            "allowed": np.zeros((capacity, SHORTLIST), np.bool_),
            "executed": np.zeros(capacity, np.int64),
            "reward": np.zeros(capacity, np.float32),
            "next_features": np.zeros((capacity, SHORTLIST, WIDTH), np.float16),
            "next_allowed": np.zeros((capacity, SHORTLIST), np.bool_),
            "terminated": np.zeros(capacity, np.float32),
            "workload": np.zeros(capacity, np.int64),
        }

    @property
    def capacity(self) -> int:
        return len(self.arrays["reward"])

    def add(self, transitions: Iterable[Transition], workload: str = "") -> None:
        """Store transitions, overwriting the oldest; one whose reward is not known teaches nothing and is left out.

        Args:
            workload: which they are of, so that they can be forgotten.
        """
        for transition in transitions:
            reward = regret_reward(transition.reward, transition.preference, transition.best)
            if not np.isnan(reward):
                self.arrays["workload"][self.written % self.capacity] = zlib.crc32(workload.encode())
                self._write(self.written % self.capacity, transition, float(reward))
                self.written += 1
                self.size = min(self.size + 1, self.capacity)

    def forget(self, workload: str) -> None:
        """Forget the transitions of a workload; the others keep their order of age."""
        order = np.arange(self.written - self.size, self.written) % self.capacity
        kept = order[self.arrays["workload"][order] != zlib.crc32(workload.encode())]
        for array in self.arrays.values():
            array[: len(kept)], array[len(kept) :] = array[kept].copy(), 0
        self.size = self.written = len(kept)

    def _write(self, at: int, transition: Transition, reward: float) -> None:
        for before, seen in (("", transition.seen), ("next_", transition.following)):
            self.arrays[before + "features"][at] = 0
            self.arrays[before + "features"][at, : len(seen.rows)] = seen.features
            self.arrays[before + "allowed"][at] = False
            self.arrays[before + "allowed"][at, : len(seen.rows)] = seen.allowed
        self.arrays["executed"][at] = transition.executed
        self.arrays["reward"][at] = reward
        self.arrays["terminated"][at] = transition.terminated

    def sample(self, n: int, rng: np.random.Generator) -> Batch:
        """Draw `n` transitions with replacement."""
        assert self.size > 0
        rows = rng.integers(self.size, size=n)
        chosen = {name: array[rows] for name, array in self.arrays.items() if name != "workload"}
        for name in ("features", "next_features"):
            chosen[name] = chosen[name].astype(np.float32)
        return Batch(**chosen)


def concatenate(first: Batch, second: Batch) -> Batch:
    """One batch of two, e.g. half real and half simulated."""
    return Batch(*(np.concatenate((getattr(first, f.name), getattr(second, f.name))) for f in fields(Batch)))
