"""Standings: better, worse, or not told apart; rounding is no difference."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.agents.contest import SequenceScores
from jpo.plugins.cluster.report.standings import ContestResult, document, verdict


@pytest.mark.parametrize(
    ("objective", "change", "said"),
    [
        ("wait", -1.0, "better than"),
        ("wait", 1.0, "worse than"),
        ("wait", 0.0, "not told apart from"),
        ("wait", 1e-14, "not told apart from"),
        ("utilisation", 1.0, "better than"),
    ],
)
def test_a_verdict_needs_the_whole_interval(objective: str, change: float, said: str) -> None:
    base = np.linspace(10, 20, 30)
    judged = ContestResult(SequenceScores(objective, {"mine": base + change, "saf+easy": base}), "mine", 30, 64, ("a", "b"))
    assert verdict(judged, "saf+easy") == f"mine is {said} saf+easy."
    assert document(judged).title == "mine on 30 sequences of 64 jobs: a, b"


def test_a_difference_of_rounding_is_0() -> None:
    base = np.linspace(10, 20, 30)
    assert SequenceScores("wait", {"mine": base - 6e-14, "saf+easy": base}).difference("mine", "saf+easy") == (0.0, 0.0, 0.0)
