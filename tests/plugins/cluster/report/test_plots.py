"""Pictures of schedules; tests/plugins/cluster/story/test_convert.py draws one."""

from __future__ import annotations

from jpo.plugins.cluster.schedule import bars


def test_neighbouring_devices_are_one_bar() -> None:
    assert bars((0, 1, 2, 5, 7, 8)) == [(0, 3), (5, 6), (7, 9)]
