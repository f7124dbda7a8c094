"""Contest: an agent beside rules, on the same sequences, with intervals of the difference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent
from jpo.plugins.cluster.agents.reserving import Reserving
from jpo.plugins.cluster.agents.sequences import Sequence as JobSequence
from jpo.plugins.cluster.agents.training import follow, live
from jpo.plugins.cluster.environment.episode import Episode
from jpo.plugins.cluster.environment.rewards import METRICS

DRAWS = 4000
SIDE_BY_SIDE = 16
ROUNDING = 1e-9
"""Share of a value below which a difference is one of rounding, which is none."""


@dataclass(frozen=True, slots=True)
class SequenceScores:
    """How an agent and rules did on sequences.

    `objective`: of METRICS; smaller is better but for utilisation. `values`: of each name, one per sequence, in their order.
    """

    objective: str
    values: dict[str, NDArray[np.float64]]

    def mean(self, name: str) -> float:
        return float(self.values[name].mean())

    def difference(self, name: str, other: str) -> tuple[float, float, float]:
        """Mean of name - other over sequences, and its 95% interval by bootstrap over sequences."""
        one, another = self.values[name], self.values[other]
        gaps = np.where(np.isclose(one, another, rtol=ROUNDING, atol=0.0), 0.0, one - another)
        draws = np.random.default_rng(0).integers(len(gaps), size=(DRAWS, len(gaps)))
        low, high = np.percentile(gaps[draws].mean(axis=1), [2.5, 97.5])
        return float(gaps.mean()), float(low), float(high)


def batches(sequences: int) -> range:
    return range((sequences + SIDE_BY_SIDE - 1) // SIDE_BY_SIDE)


def values_of_agent(
    agent: ClassicAgent | LearningAgent, drawn: Sequence[JobSequence], objective: str, turns: Iterable[int]
) -> NDArray[np.float64]:
    """The metric of each sequence; `turns` counts batches of SIDE_BY_SIDE and shows how far it is."""
    found: list[float] = []
    for turn in turns:
        batch = drawn[turn * SIDE_BY_SIDE : (turn + 1) * SIDE_BY_SIDE]
        if isinstance(agent, Reserving):
            found += [agent.values(one, (objective,))[0] for one in batch]
            continue
        episodes = [Episode(*one, agent.options) for one in batch]
        if isinstance(agent, LearningAgent):
            live(agent, episodes, explore=False, objective=objective)
        else:
            for episode in episodes:
                follow(agent, episode)
        found += [float(episode.ledger.metrics()[METRICS.index(objective)]) for episode in episodes]
    return np.array(found)
