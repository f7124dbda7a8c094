"""An agent that does as its margin says, on a workload where leaving the rule pays, or does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from jpo.plugins.cluster.agents import anchor as anchoring
from jpo.plugins.cluster.agents.anchor import MARGINS, anchor
from jpo.plugins.cluster.agents.base import LearningAgent
from jpo.plugins.cluster.agents.sequences import Sequence as JobSequence

PAST: list[JobSequence] = [None] * 20  # type: ignore[list-item]


def tried(monkeypatch: pytest.MonkeyPatch, gain_of: dict[float, float], past: list[JobSequence] = PAST) -> float:
    def values(agent: LearningAgent, drawn: list[JobSequence], *_: object) -> NDArray[np.float64]:
        noise = np.random.default_rng(int(agent.margin * 10) if agent.margin < 9 else 99).normal(0, 0.1, len(drawn))
        return np.full(len(drawn), 10.0) - gain_of.get(agent.margin, 0.0) + noise

    monkeypatch.setattr(anchoring, "values_of_agent", values)
    agent = LearningAgent()
    anchor(agent, past, "slowdown", range(1 + len(MARGINS)))
    return agent.margin


def test_the_margin_that_paid_most_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, {0.0: 1.0, 0.1: 2.0, 0.3: 0.5}) == 0.1


def test_what_did_not_pay_for_certain_leaves_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, {0.0: -1.0, 0.1: 0.0, 0.3: -0.2}) == math.inf
    assert tried(monkeypatch, {0.0: 5.0}, PAST[:4]) == math.inf  # too short a past
