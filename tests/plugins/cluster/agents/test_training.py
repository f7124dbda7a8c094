"""Training: experiences add up, and the reference is the first open action."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent, Mask, Seen
from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.agents.training import follow, live, reference
from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions


class FirstOpen(LearningAgent):
    """Decides as the classic agent does, side by side."""

    options = EpisodeOptions("backfill", slots=8, order="saf")

    def act(self, seen: Seen, masks: Mask, *, explore: bool) -> np.ndarray:
        return masks.argmax(axis=1)


def test_episodes_side_by_side_are_what_they_are_one_by_one(parts: Sequences) -> None:
    agent, rng = FirstOpen(), np.random.default_rng(0)
    drawn = [parts(rng) for _ in range(3)]
    lived = live(agent, [Episode(*one, agent.options) for one in drawn], explore=False, objective="slowdown")
    for one, sequence in zip(lived, drawn, strict=True):
        alone = Episode(*sequence, agent.options)
        assert len(one.actions) == len(one.rewards) == len(one.seen) == len(one.masks)
        follow(ClassicAgent(), alone)
        if not len(one.actions):
            continue
        assert -one.rewards.sum() == pytest.approx(alone.ledger.metrics()[1])
        assert reference(sequence, agent.options, "slowdown") == pytest.approx(alone.ledger.metrics()[1])
