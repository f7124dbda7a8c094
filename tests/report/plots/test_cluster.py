"""Pictures of schedules; tests/commands/cluster/test_convert.py draws one."""

from __future__ import annotations

from jpo.report.plots.cluster import bars


def test_neighbouring_devices_are_one_bar() -> None:
    assert bars((0, 1, 2, 5, 7, 8)) == [(0, 3), (5, 6), (7, 9)]
