"""What a scope brought."""

from __future__ import annotations

from jpo.telemetry.prometheus.pods.new_runs import NewRuns


def test_two_findings_are_added_up():
    both = NewRuns(ends=(1.0,), open_ids=frozenset("a")) + NewRuns(ends=(2.0,), open_ids=frozenset("b"), starts=(0.5,))
    assert both == NewRuns(ends=(1.0, 2.0), open_ids=frozenset("ab"), starts=(0.5,))
