from __future__ import annotations

from itertools import product

from jpo.plugins.lab.replay.ladders import steps_of
from jpo.plugins.lab.replay.play import ReplayProblem
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.records import Outcome

GAPPED = tuple({"batch_size": b, "gpus": g} for b, g in product((8.0, 16.0, 32.0), (1.0, 2.0, 4.0)) if b / g > 2)
"""A grid with corners cut off: batch size 8 has no 4 GPUs."""


def test_optuna_gets_what_was_run_instead_of_what_does_not_exist() -> None:
    policy = POLICIES["optuna-tpe"](ReplayProblem(GAPPED, 0, "time", 3))
    seen = {0}
    policy.tell(0, *heard(5.0))
    for _ in range(20):
        row = policy.ask()
        policy.tell(row, *heard(float(row + 1)))
        seen.add(row)
    done = [trial for trial in policy._study.trials if trial.state.name == "COMPLETE"]  # type: ignore[attr-defined]
    steps = {tuple(row) for row in steps_of(GAPPED).tolist()}
    assert len(done) == 21
    assert {tuple(trial.params.values()) for trial in done} <= steps


def heard(charge: float) -> tuple[Outcome, float]:
    return Outcome(duration_seconds=charge), charge
