"""What an agent is. A user's own derives from one of these: `jpo cluster test --agent mine.py:Mine`.

A classic agent decides by a rule; a learning one by what it saw, and gets better by episodes that ended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions

Seen = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LivedEpisode:
    """One episode as a learning agent lived it.

    `seen`: shape (decisions, size). masks: (decisions, actions), the open ones. actions: (decisions,), those taken. `rewards`:
    (decisions,), of the objective, divided by what a reference policy got: they add up to about -1.
    """

    seen: Seen
    masks: Mask
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]


class ClassicAgent:
    """An agent by a rule. `options` says what it decides; override `decide`, and `options` where it wants other decisions."""

    options = EpisodeOptions(mode="job", order="saf")

    def decide(self, episode: Episode, mask: Mask) -> int:
        """An open action; mask[action] is True for those. Here: the first, i.e. the first waiting job that fits."""
        return int(np.argmax(mask))


class LearningAgent:
    """An agent that learns. Weights are arrays by name, so that any library may be behind it.

    `margin`: by how much a score must be above that of the first open action, which is the rule's; see anchor.py.
    """

    options = EpisodeOptions(mode="job", order="saf")
    margin = 0.0

    def __init__(
        self, options: EpisodeOptions | None = None, *, hidden: int = 32, lr: float = 1e-3, gamma: float = 1.0, seed: int = 0
    ) -> None:
        """`options`: what it decides; None: the class's own."""
        self.options = options or type(self).options
        self.hidden, self.lr, self.gamma, self.seed = hidden, lr, gamma, seed
        self.begin()

    def begin(self) -> None:
        """Make what is learnt."""

    def act(self, seen: Seen, masks: Mask, *, explore: bool) -> NDArray[np.int64]:
        """An open action for each of several episodes: (episodes, size) and (episodes, actions) to (episodes,)."""
        raise NotImplementedError

    def learn(self, experiences: Sequence[LivedEpisode]) -> Mapping[str, float]:
        """Learn from episodes that ended; figures to be shown, by name."""
        raise NotImplementedError

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """All that must be kept, the state of the optimiser included."""
        return {}

    def load(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Go on from kept weights; KeyError or ValueError: they are another agent's."""
