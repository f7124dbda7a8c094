"""Training: episodes side by side, so that one pass of a network decides in all of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from jpo.errors import quoted
from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent, LivedEpisode, Mask, Seen
from jpo.plugins.cluster.agents.reserving import Reserving
from jpo.plugins.cluster.agents.sequences import Sequence as JobSequence
from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions
from jpo.plugins.cluster.environment.observation import Observer
from jpo.plugins.cluster.environment.rewards import METRICS

Draw = Callable[[np.random.Generator], JobSequence]


def live(agent: LearningAgent, episodes: Sequence[Episode], *, explore: bool, objective: str) -> list[LivedEpisode]:
    """Let an agent decide in several episodes until all are over; rewards are of the objective as it is."""
    which = METRICS.index(objective)
    observers = [Observer(episode) for episode in episodes]
    lived: list[list[tuple[Seen, Mask, int, float]]] = [[] for _ in episodes]
    going = [place for place, episode in enumerate(episodes) if not episode.done]
    while going:
        masks = [episodes[place].mask() for place in going]
        seen = [observers[place].observe(mask) for place, mask in zip(going, masks, strict=True)]
        chosen = np.asarray(agent.act(np.stack(seen), np.stack(masks), explore=explore))
        if chosen.shape != (len(going),) or chosen.dtype.kind not in "iu":
            raise TypeError(f"act returned {chosen.dtype} of shape {chosen.shape}, not {len(going)} numbers of actions")
        for place, sees, mask, action in zip(going, seen, masks, chosen.tolist(), strict=True):
            lived[place].append((sees, mask, action, float(episodes[place].step(action)[which])))
        going = [place for place in going if not episodes[place].done]
    return [
        LivedEpisode(
            np.array([sees for sees, _, _, _ in steps], dtype=np.float32).reshape(len(steps), observer.size),
            np.array([mask for _, mask, _, _ in steps], dtype=np.bool_).reshape(len(steps), agent.options.actions),
            np.array([action for _, _, action, _ in steps], dtype=np.int64),
            np.array([reward for _, _, _, reward in steps], dtype=np.float64),
        )
        for observer, steps in zip(observers, lived, strict=True)
    ]


def follow(agent: ClassicAgent, episode: Episode) -> None:
    while not episode.done:
        action = agent.decide(episode, episode.mask())
        if not isinstance(action, int | np.integer):
            raise TypeError(f"decide returned {quoted(action)}, not the number of an action")
        episode.step(int(action))


def reference(drawn: JobSequence, options: EpisodeOptions, objective: str) -> float:
    """The metric where always the first open action is taken; 1 where that is 0."""
    episode = Episode(*drawn, options)
    follow(ClassicAgent(), episode)
    return float(abs(episode.ledger.metrics()[METRICS.index(objective)])) or 1.0


def train_once(agent: LearningAgent, draw: Draw, rng: np.random.Generator, *, episodes: int, objective: str) -> dict[str, float]:
    """Live several episodes side by side and learn from them: mean return (-1: as the reference), and what the agent says."""
    drawn = [draw(rng) for _ in range(episodes)]
    if isinstance(agent, Reserving):
        return {**agent.evolve(drawn, objective)}
    scales = [reference(one, agent.options, objective) for one in drawn]
    lived = live(agent, [Episode(*one, agent.options) for one in drawn], explore=True, objective=objective)
    scaled = [replace(one, rewards=one.rewards / scale) for one, scale in zip(lived, scales, strict=True) if len(one.actions)]
    returns = float(np.mean([one.rewards.sum() for one in scaled])) if scaled else 0.0
    return {"return": returns, **(agent.learn(scaled) if scaled else {})}
