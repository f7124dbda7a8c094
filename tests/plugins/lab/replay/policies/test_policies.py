"""What every policy must do, whichever peer it is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from jpo.plugins.lab.replay.play import play
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import Execution, Trace

Ladder = Callable[..., Trace]
GAPPED = tuple({"batch_size": b, "gpus": g} for b, g in product((8.0, 16.0, 32.0), (1.0, 2.0, 4.0)) if b / g > 2)
"""A grid with corners cut off: batch size 8 has no 4 GPUs."""


def gapped() -> Trace:
    runs = tuple(
        (Execution(100 / configuration["gpus"] + configuration["batch_size"], configuration["gpus"], True),)
        for configuration in GAPPED
    )
    return Trace("gapped", GAPPED, runs, 0, "GPU h")


@pytest.mark.parametrize("name", POLICIES)
def test_no_seed_is_too_large(name: str) -> None:
    """`--seed` may be 4294967295, and `--seeds` counts on from there."""
    assert len(play(gapped(), POLICIES[name], "time", runs=3, seed=2**32).choices) == 3


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_chooses_what_exists_and_repeats_itself_with_the_same_seed(name: str) -> None:
    first, again = (play(gapped(), POLICIES[name], "balanced", runs=14, seed=5) for _ in range(2))
    assert first.choices.tolist() == again.choices.tolist()
    assert first.choices[0] == 0


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_survives_a_job_whose_runs_fail(name: str, ladder: Ladder) -> None:
    replay = play(ladder(-10.0, -9.0, 8.0, -1.0), POLICIES[name], "time", runs=14, seed=1)
    assert np.isfinite(replay.charges).all()


@pytest.mark.parametrize("name", ["hillclimb", "optuna-tpe", "optuna-gp", "gp-ei"])
def test_a_policy_that_learns_beats_random_on_a_smooth_slope(name: str, ladder: Ladder) -> None:
    slope = ladder(*(float(s) for s in (64, 48, 32, 24, 16, 12, 8, 10, 14)))
    mean = {
        who: np.mean([play(slope, POLICIES[who], "time", runs=30, seed=s).charges for s in range(3)]) for who in (name, "random")
    }
    assert mean[name] < mean["random"]
