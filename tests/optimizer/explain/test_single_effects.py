"""What each changed value is expected to do by itself, next to what the choice does as a whole."""

from __future__ import annotations

from dataclasses import replace

from jpo.agent.candidate_rows import row_of
from jpo.optimizer.explain.account import single_effects
from jpo.optimizer.explain.alternatives import trade
from jpo.optimizer.explain.scene import DecisionScene
from tests.optimizer.explain.decided import NOW
from tests.optimizer.explain.test_scene import Decided, scene_of


def choosing(scene: DecisionScene, **values: float) -> DecisionScene:
    """The scene with another choice."""
    row = row_of(scene.candidates, {**NOW, **values})
    advice = replace(scene.advice, decision=replace(scene.advice.decision, choice=row))
    return replace(scene, advice=advice)


def test_of_the_only_change_the_headline_says_what_it_does(decided: Decided) -> None:
    assert dict(single_effects(choosing(scene_of(decided[0]), batch_size=128.0))) == {}


def test_of_two_changes_each_is_told_without_the_other(decided: Decided) -> None:
    scene = choosing(scene_of(decided[0]), batch_size=128.0, gpus=4.0)
    told = dict(single_effects(scene))
    for name, value in (("batch_size", 128.0), ("gpus", 4.0)):
        row = row_of(scene.candidates, {**NOW, name: value})
        assert told[name] == f"expected alone: {trade(scene, row, than=scene.candidates.current)}"
    assert told["batch_size"].startswith("expected alone: time -2"), "of 402 s, 301"


def test_what_follows_says_whom_and_what_stays_says_nothing(decided: Decided) -> None:
    scene = choosing(scene_of(decided[0], follow={"gpus": "batch_size:linear"}), batch_size=128.0, gpus=4.0)
    assert dict(single_effects(scene)) == {"gpus": "follows batch_size (linear rule)"}
    assert dict(single_effects(choosing(scene_of(decided[0])))) == {}
