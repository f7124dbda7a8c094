from __future__ import annotations

from collections.abc import Callable

from jpo.plugins.lab.replay.play import play
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import Trace

Ladder = Callable[..., Trace]


def test_default_never_changes_anything(ladder: Ladder) -> None:
    assert set(play(ladder(9.0, 1.0, default=0), POLICIES["default"], "time", runs=5, seed=0).choices) == {0}


def test_random_chooses_all_configurations_about_equally_often(ladder: Ladder) -> None:
    choices = play(ladder(3.0, 2.0, 1.0), POLICIES["random"], "time", runs=301, seed=0).choices.tolist()
    assert all(80 < choices[1:].count(row) < 120 for row in range(3))
