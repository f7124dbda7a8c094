"""Fail conditions: sentences, and when they are true (tests/plugins/cluster/story/test_evaluate.py fails on them)."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.cluster.fail_condition import parsed


def test_a_sentence_says_rule_reference_figure_and_limit() -> None:
    condition = parsed("saf+easy worse than fcfs by 7.5% in p95_wait_seconds", ["saf+easy", "fcfs"])
    assert (condition.rule, condition.reference, condition.figure, condition.limit) == (
        "saf+easy",
        "fcfs",
        "p95_wait_seconds",
        0.075,
    )
    assert parsed("fcfs utilisation below 0.5", ["fcfs"]).above is False


@pytest.mark.parametrize("text", ["", "saf", "saf worse fcfs", "saf worse than fcfs by five%", "saf avg_wait_seconds over 3"])
def test_other_sentences_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-if"):
        parsed(text, ["saf", "fcfs"])
