"""Replay of forks: what several candidates saved against the belief rule's choice, from one state, with the same luck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.agent.state import WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.agent.sac.replay_buffer import Transition
    from jpo.agent.state import Features
    from jpo.records import Bools, Floats

MOST = 8
"""Candidates that are run from one state, the rule's choice among them."""


@dataclass(frozen=True, eq=False, slots=True)
class Fork:
    """A fork: candidates that were run from one state.

    Attributes:
        features: shape (n, WIDTH), n at most MOST, the belief rule's choice first.
        saved: shape (n,), runs of the optimum which each saved against the first, 0 for the first itself.
    """

    features: Features
    saved: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Practice:
    """What simulated jobs taught next to a real run: transitions, and forks."""

    transitions: Sequence[Transition]
    forks: Sequence[Fork]


@dataclass(frozen=True, eq=False, slots=True)
class ForkBatch:
    """Batch of F forks as arrays; candidates that do not exist are 0."""

    features: NDArray[np.float32]
    """(F, MOST, WIDTH)"""
    saved: NDArray[np.float32]
    """(F, MOST)"""
    there: Bools
    """(F, MOST)"""


class ForkReplay:
    """Ring of forks of fixed capacity; old ones are overwritten when it is full. Features are held as float16."""

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self.written = 0
        self.arrays: dict[str, NDArray[Any]] = {
            "features": np.zeros((capacity, MOST, WIDTH), np.float16),
            "saved": np.zeros((capacity, MOST), np.float32),
            "there": np.zeros((capacity, MOST), np.bool_),
        }

    @property
    def capacity(self) -> int:
        return len(self.arrays["saved"])

    def add(self, forks: Iterable[Fork]) -> None:
        """Store forks, overwriting the oldest."""
        for fork in forks:
            at, n = self.written % self.capacity, len(fork.saved)
            for array in self.arrays.values():
                array[at] = 0
            self.arrays["features"][at, :n] = fork.features
            self.arrays["saved"][at, :n] = fork.saved
            self.arrays["there"][at, :n] = True
            self.written += 1
            self.size = min(self.size + 1, self.capacity)

    def sample(self, n: int, rng: np.random.Generator) -> ForkBatch:
        """Draw `n` forks with replacement."""
        assert self.size > 0
        rows = rng.integers(self.size, size=n)
        features, saved, there = (self.arrays[name][rows] for name in ("features", "saved", "there"))
        return ForkBatch(features.astype(np.float32), saved, there)
