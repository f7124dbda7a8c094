"""Base classes of agents."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent
from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions


def test_a_classic_agent_takes_the_first_open_action(parts: Sequences) -> None:
    episode = Episode(*parts(np.random.default_rng(0)), ClassicAgent.options)
    assert episode.mask()[ClassicAgent().decide(episode, episode.mask())]


def test_a_learning_agent_has_its_options_unless_others_are_given() -> None:
    assert LearningAgent().options is LearningAgent.options
    assert LearningAgent(EpisodeOptions("pair")).options.mode == "pair"
    for method in (
        lambda: LearningAgent().learn([]),
        lambda: LearningAgent().act(np.zeros((1, 1)), np.zeros((1, 1)), explore=True),
    ):
        with pytest.raises(NotImplementedError):
            method()
