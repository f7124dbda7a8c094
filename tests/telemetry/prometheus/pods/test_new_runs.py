"""What a scope brought."""

from __future__ import annotations

from jpo.telemetry.prometheus.discovery import RunBounds
from jpo.telemetry.prometheus.pods.new_runs import NewRuns

EARLY, LATE = RunBounds(0.5, 1.0, closed=True), RunBounds(None, 2.0, closed=False)


def test_two_findings_are_added_up():
    both = NewRuns(over=(EARLY,), open_ids=("a",)) + NewRuns(over=(LATE,), open_ids=("b",), undecided=(3.0,))
    assert both == NewRuns(over=(EARLY, LATE), open_ids=("a", "b"), undecided=(3.0,))
