"""Replay of forks: what several candidates saved against the belief rule's choice, from one state, with the same luck."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jpo.agent.sac.replay_buffer import Ring, Transition
from jpo.agent.state import WIDTH, Features
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


class ForkReplay(Ring):
    def __init__(self, capacity: int) -> None:
        features, rows = ((MOST, WIDTH), np.float16), (MOST,)
        super().__init__(capacity, {"features": features, "saved": (rows, np.float32), "there": (rows, np.bool_)})

    def add(self, forks: Iterable[Fork]) -> None:
        for fork in forks:
            self.put(features=fork.features, saved=fork.saved, there=np.ones(len(fork.saved), dtype=np.bool_))

    def sample(self, n: int, rng: np.random.Generator) -> ForkBatch:
        """Draw `n` forks with replacement."""
        return ForkBatch(**self.rows(n, rng))
