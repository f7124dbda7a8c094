"""Agents of one's own for the cluster lab.

    jpo cluster test --agent examples/cluster/shortest_first.py:ShortestFirst --draw 5000 --procs 128
    jpo cluster train mine.safetensors --agent examples/cluster/shortest_first.py:Weighing --draw 5000 --procs 128 --rounds 20

`ShortestFirst` decides by a rule. `Weighing` learns one number for each figure of a job, by trying changes and keeping those that
helped: the smallest agent that learns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent, LivedEpisode, Mask, Seen
from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions
from jpo.plugins.cluster.environment.observation import FIGURES, OF_A_JOB


class ShortestFirst(ClassicAgent):
    """Of the jobs that may go before the first of the queue, the one that is expected to end first."""

    options = EpisodeOptions(mode="backfill", order="saf")

    def decide(self, episode: Episode, mask: Mask) -> int:
        requested = episode.simulation.requested
        open_ = list(np.flatnonzero(mask[:-1]))
        return int(min(open_, key=lambda place: requested[episode.waiting()[place]])) if open_ else len(mask) - 1


class Weighing(LearningAgent):
    """Takes the open job with the largest weighed sum of its figures."""

    options = EpisodeOptions(mode="backfill", order="saf")

    def __init__(
        self, options: EpisodeOptions | None = None, *, hidden: int = 0, lr: float = 0.3, gamma: float = 1.0, seed: int = 0
    ) -> None:
        super().__init__(options, hidden=hidden, lr=lr, gamma=gamma, seed=seed)
        self.rng = np.random.default_rng(seed)
        self.kept, self.tried, self.best = np.zeros(len(OF_A_JOB)), np.zeros(len(OF_A_JOB)), -np.inf

    def act(self, seen: Seen, masks: Mask, *, explore: bool) -> NDArray[np.int64]:
        rows = seen[:, len(FIGURES) :].reshape(len(seen), -1, len(OF_A_JOB))
        scores = np.where(masks[:, :-1], rows @ (self.tried if explore else self.kept), -np.inf)
        return np.where(masks[:, :-1].any(axis=1), scores.argmax(axis=1), masks.shape[1] - 1)

    def learn(self, experiences: Sequence[LivedEpisode]) -> Mapping[str, float]:
        found = float(np.mean([one.rewards.sum() for one in experiences]))
        if found > self.best:
            self.best, self.kept = found, self.tried
        self.tried = self.kept + self.lr * self.rng.normal(size=len(self.kept))
        return {"best": self.best}

    def weights(self) -> dict[str, NDArray[np.float32]]:
        return {"kept": self.kept.astype(np.float32)}

    def load(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self.kept = weights["kept"].astype(np.float64)
