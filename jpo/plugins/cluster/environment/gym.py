"""The cluster as a Gymnasium environment; docs/plugins/cluster.md has an example.

Each episode is a sequence of jobs from the source, on its platform. `info` has the mask of open actions and the reward of every
metric; `action_masks()` is what sb3-contrib asks for. Needs `pip install "jpo[cluster]"`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jpo.errors import UsageError
from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions
from jpo.plugins.cluster.environment.observation import Observer, size
from jpo.plugins.cluster.environment.rewards import METRICS
from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    finding = "needs gymnasium, which is not installed"
    raise UsageError("the environment", finding, 'pip install "jpo[cluster]"', code="JPO-E743") from error

Seen = NDArray[np.float32]

Source = Callable[[np.random.Generator], tuple[JobTable, DemandTable, Platform]]
"""Draws the jobs of an episode, which all fit the platform."""


class ClusterEnv(gymnasium.Env["Seen", "np.int64"]):
    """Decisions about one sequence of jobs after the other.

    The scalar reward is about the `objective`, of METRICS, divided by the `scale`, e.g. the metric under another policy, so that
    rewards are near -1.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's own

    def __init__(self, source: Source, options: EpisodeOptions, *, objective: str = "slowdown", scale: float = 1.0) -> None:
        self._source, self._options, self._scale = source, options, scale
        self._objective = METRICS.index(objective)
        slots = options.slots if options.mode != "pair" else min(options.slots, 32)
        self.observation_space = spaces.Box(-1.0, 1.0, (size(slots),), np.float32)
        self.action_space = spaces.Discrete(options.actions)
        self.episode: Episode | None = None
        self._mask = np.zeros(options.actions, dtype=np.bool_)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        self.episode = Episode(*self._source(self.np_random), self._options)
        self._observer = Observer(self.episode)
        return self._seen(), {"action_mask": self._mask.astype(np.int8)}

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take an action; one that is not open counts as the first that is, and `info["not_open"]` says so."""
        assert self.episode is not None, "reset comes first"
        open_ = bool(0 <= action < len(self._mask) and self._mask[action])
        if self.episode.done:  # nothing was to be decided in it
            rewards = self.episode.reward()
        else:
            rewards = self.episode.step(int(action) if open_ else int(np.argmax(self._mask)))
        seen = self._seen()
        info = {"action_mask": self._mask.astype(np.int8), "rewards": rewards, "not_open": not open_}
        return seen, float(rewards[self._objective]) / self._scale, self.episode.done, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are open."""
        return self._mask

    def _seen(self) -> Seen:
        assert self.episode is not None
        self._mask = self.episode.mask() if not self.episode.done else np.ones_like(self._mask)
        return self._observer.observe(self._mask)
