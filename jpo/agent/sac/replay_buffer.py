"""Replay: rings in numpy, and that of transitions."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jpo.agent.reward import regret_reward
from jpo.agent.state import SHORTLIST, WIDTH, Observation
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


class Ring:
    """Ring of fixed capacity: rows of several columns, the oldest overwritten when it is full.

    Features are held as float16, which halves them at a loss far below their noise.
    """

    def __init__(self, capacity: int, columns: Mapping[str, tuple[tuple[int, ...], type[np.generic]]]) -> None:
        """`columns`: shape of a row and type, by name."""
        self.size = self.written = 0
        self.capacity = capacity
        self.arrays: dict[str, NDArray[Any]] = {
            name: np.zeros((capacity, *shape), kind) for name, (shape, kind) in columns.items()
        }

    def put(self, **row: ArrayLike) -> None:
        """Write one row; of a column that has more places than there are values the rest is 0."""
        for name, values in row.items():
            place = self.arrays[name][self.written % self.capacity, ...]
            place[...] = 0
            place[tuple(map(slice, np.shape(values)))] = values
        self.written += 1
        self.size = min(self.size + 1, self.capacity)

    def rows(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw `n` rows with replacement, by column."""
        assert self.size > 0
        at = rng.integers(self.size, size=n)
        chosen = {name: array[at] for name, array in self.arrays.items()}
        return {name: values.astype(np.float32) if values.dtype == np.float16 else values for name, values in chosen.items()}


class ReplayBuffer(Ring):
    """Replay of transitions.

    The reward becomes a scalar on entry: features belong to one preference too, so another one means transitions built anew from
    the history, where the vectors are.
    """

    def __init__(self, capacity: int) -> None:
        features, rows, number = ((SHORTLIST, WIDTH), np.float16), ((SHORTLIST,), np.bool_), ((), np.float32)
        before = {"features": features, "allowed": rows, "executed": ((), np.int64), "reward": number}
        after = {"next_features": features, "next_allowed": rows, "terminated": number, "workload": ((), np.int64)}
        super().__init__(capacity, {**before, **after})

    def add(self, transitions: Iterable[Transition], workload: str = "") -> None:
        """Store transitions, overwriting the oldest; one whose reward is not known teaches nothing and is left out.

        `workload`: which they are of, so that they can be forgotten.
        """
        for transition in transitions:
            seen, following = transition.seen, transition.following
            reward = regret_reward(transition.reward, transition.preference, transition.best)
            if not np.isnan(reward):
                self.put(
                    features=seen.features,
                    allowed=seen.allowed,
                    executed=transition.executed,
                    reward=reward,
                    next_features=following.features,
                    next_allowed=following.allowed,
                    terminated=transition.terminated,
                    workload=zlib.crc32(workload.encode()),
                )

    def forget(self, workload: str) -> None:
        """Forget the transitions of a workload; the others keep their order of age."""
        order = np.arange(self.written - self.size, self.written) % self.capacity
        kept = order[self.arrays["workload"][order] != zlib.crc32(workload.encode())]
        for array in self.arrays.values():
            array[: len(kept)], array[len(kept) :] = array[kept].copy(), 0
        self.size = self.written = len(kept)

    def sample(self, n: int, rng: np.random.Generator) -> Batch:
        """Draw `n` transitions with replacement."""
        return Batch(**{name: values for name, values in self.rows(n, rng).items() if name != "workload"})


def concatenate(first: Batch, second: Batch) -> Batch:
    """One batch of two, e.g. half real and half simulated."""
    return Batch(*(np.concatenate((getattr(first, f.name), getattr(second, f.name))) for f in fields(Batch)))
