"""Anchor: an agent leaves the rule that it began with only as far as that has paid on this very workload before.

What was learnt on one cluster may be worse than the rule on another one. Before it is used there, it is tried on the jobs that
are past: with each margin, the gain of score from which on it does something else than the rule's choice, the first open action.
A margin has paid where the mean is better, and the 95% interval of the mean logarithm is on that side of 0: means alone hang on a
few sequences in which everybody waited. The best one that has paid counts; without one the agent is the rule.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from jpo.plugins.cluster.agents.base import LearningAgent
from jpo.plugins.cluster.agents.contest import SequenceScores, batches, values_of_agent
from jpo.plugins.cluster.agents.sequences import Sequence as JobSequence

MARGINS = (0.0, 0.1, 0.3)
"""Of scores that are logarithms of shares before they are normed: 0.1 is a choice that is 1.1 times as likely."""
FEWEST = 8
"""Sequences of the past below which an interval says too little."""


def anchor(agent: LearningAgent, past: Sequence[JobSequence], objective: str, turns: Iterable[int]) -> None:
    """Give an agent its margin for a workload, by sequences that do not overlap, so that each says something of its own.

    `turns`: one for each of MARGINS and one for the rule; shows how far it is.
    """
    if len(past) < FEWEST:
        agent.margin = math.inf
        return
    values = {}
    for _, agent.margin in zip(turns, (math.inf, *MARGINS), strict=True):
        values[str(agent.margin)] = values_of_agent(agent, past, objective, batches(len(past)))
    sign = -1.0 if objective == "utilisation" else 1.0
    scores = SequenceScores(objective, {name: sign * np.log1p(found) for name, found in values.items()})
    gains = {margin: sign * float((values["inf"] - values[str(margin)]).mean()) for margin in MARGINS}
    paid = [margin for margin in MARGINS if gains[margin] > 0 and scores.difference(str(margin), "inf")[2] < 0]
    agent.margin = max(paid, key=gains.__getitem__, default=math.inf)
