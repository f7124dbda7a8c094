"""The contest: values of rules are those of their schedules; intervals hold the mean."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.agents.base import ClassicAgent
from jpo.plugins.cluster.agents.contest import SequenceScores, values_of_agent
from jpo.plugins.cluster.agents.reserving import values_of_rule
from jpo.plugins.cluster.agents.sequences import Sequences
from jpo.plugins.cluster.environment.episode import EpisodeOptions
from jpo.plugins.cluster.environment.rewards import METRICS
from jpo.plugins.cluster.queueing.simulate import Rule


class Easy(ClassicAgent):
    options = EpisodeOptions("backfill", slots=200, order="saf")


@pytest.mark.parametrize("objective", METRICS)
def test_the_rule_as_an_agent_has_the_value_of_the_rule(objective: str, parts: Sequences) -> None:
    rng = np.random.default_rng(0)
    drawn = [parts(rng) for _ in range(2)]
    values = values_of_agent(Easy(), drawn, objective, range(1))
    assert values.tolist() == pytest.approx([values_of_rule(Rule("saf", "easy"), one, (objective,))[0] for one in drawn])


def test_an_interval_lies_around_the_mean_of_the_differences() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(10, 5, 50)
    found = SequenceScores("wait", {"a": base - 1 + rng.normal(0, 0.1, 50), "b": base})
    mean, low, high = found.difference("a", "b")
    assert -1.1 < low < mean < high < -0.9
    assert found.mean("b") == pytest.approx(base.mean())
