"""What the decider knew: the neighbours of its choice, what follows a value, and the guard's word on it."""

from __future__ import annotations

from dataclasses import replace

import constraints
from constraints import Facts, Limits
from jpo.agent.candidate_rows import name_of
from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.account import Account
from jpo.optimizer.explain.scene import DecisionScene, guarded, moved, neighbours
from tests.optimizer.explain.decided import LIMITS, NOW, SEEN, known, request

Decided = tuple[Advice, Account]


def scene_of(advice: Advice, limits: Limits = LIMITS, **changes: object) -> DecisionScene:
    assert advice.surrogate is not None
    assert advice.problem is not None
    return DecisionScene(advice, advice.surrogate, request(**changes), known(SEEN), limits, Facts(), None, advice.problem)


def rows(scene: DecisionScene, name: str) -> dict[str, dict[str, float]]:
    return {side: scene.candidates.parameters(row) for side, row in neighbours(scene, name).items()}


def test_neighbours_differ_in_one_parameter_by_one_step_and_a_held_one_has_none(decided: Decided) -> None:
    """Of 256 samples on two GPUs: max_change refuses a larger batch, and as many on one GPU."""
    scene = scene_of(decided[0])
    chosen = {**NOW, "batch_size": 256.0}
    assert scene.candidates.parameters(scene.choice) == chosen
    assert rows(scene, "gpus") == {"larger": {**chosen, "gpus": 4.0}}
    assert rows(scene, "batch_size") == {"smaller": {**chosen, "batch_size": 128.0}}
    assert rows(scene, "cpus") == {}


def test_what_follows_moves_along(decided: Decided) -> None:
    scene = scene_of(decided[0], follow={"gpus": "batch_size:linear"})
    assert moved(scene, {**NOW, "batch_size": 128.0}) == {**NOW, "batch_size": 128.0, "gpus": 4.0}
    assert moved(scene_of(decided[0]), {**NOW, "batch_size": 128.0}) == {**NOW, "batch_size": 128.0}


def test_the_guard_is_asked_with_the_price_of_the_configuration_that_is_meant(decided: Decided) -> None:
    """Two dollars per GPU and four cents per CPU and hour: two GPUs cost 4.32 USD per hour, four 8.32."""
    scene = scene_of(decided[0], constraints.limits_from({"prices": {"catalogue": "mine"}, "quota": {"usd_per_hour": 5.0}}))
    assert [guarded(scene, {**NOW, "gpus": gpus}).approved for gpus in (2.0, 4.0)] == [True, False]


def test_a_row_is_named_by_what_differs_from_today(decided: Decided) -> None:
    scene = scene_of(decided[0])
    row = scene.surrogate.row({**NOW, "batch_size": 128.0, "gpus": 4.0})
    assert name_of(scene.candidates, row) == "batch_size 128, gpus 4"
    assert name_of(scene.candidates, scene.candidates.current) == "today's configuration"
    assert scene_of(replace(decided[0], decision=replace(decided[0].decision, choice=row))).choice == row
