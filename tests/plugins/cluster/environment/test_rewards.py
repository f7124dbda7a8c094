"""Names of objectives; that rewards add up is in test_episode.py."""

from __future__ import annotations

from jpo.plugins.cluster.environment.rewards import METRICS, OBJECTIVES, SIGNS


def test_hdeeprms_six_objectives_are_metrics() -> None:
    assert len(set(OBJECTIVES.values())) == 6
    assert set(OBJECTIVES.values()) < set(METRICS)
    assert OBJECTIVES["avg_utilization"] == OBJECTIVES["utilization"]
    assert len(SIGNS) == len(METRICS)
