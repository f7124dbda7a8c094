"""What every peer promises, and each one's way of choosing by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from jpo.replay import POLICIES, Execution, Problem, Trace, play
from jpo.replay.ladders import next_step, scaled, steps_of
from jpo.replay.policies.gp_ei import expected_improvement

Ladder = Callable[..., Trace]
GAPPED = tuple({"batch_size": b, "gpus": g} for b, g in product((8.0, 16.0, 32.0), (1.0, 2.0, 4.0)) if b / g > 2)
"""A grid with corners cut off: batch size 8 has no 4 GPUs."""


def gapped() -> Trace:
    runs = tuple((Execution(100 / one["gpus"] + one["batch_size"], one["gpus"], True),) for one in GAPPED)
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


def test_default_never_changes_anything(ladder: Ladder) -> None:
    assert set(play(ladder(9.0, 1.0, default=0), POLICIES["default"], "time", runs=5, seed=0).choices) == {0}


def test_the_hill_climb_goes_on_in_the_direction_that_helped_and_then_stays(ladder: Ladder) -> None:
    choices = play(ladder(40.0, 30.0, 20.0, 10.0, 15.0), POLICIES["hillclimb"], "time", runs=8, seed=0).choices
    assert choices.tolist() == [0, 1, 2, 3, 4, 3, 3, 3]


def test_the_hill_climb_keeps_to_the_knob_that_helped() -> None:
    grid = tuple({"batch_size": b, "gpus": g} for b, g in product((1.0, 2.0, 4.0, 8.0), repeat=2))
    trace = Trace("both help", grid, tuple((Execution(100 / sum(one.values()), 1.0, True),) for one in grid), 0, "USD")
    for seed in range(6):
        ran = [grid[row] for row in play(trace, POLICIES["hillclimb"], "time", runs=8, seed=seed).choices]
        first = next(name for name in ("batch_size", "gpus") if ran[1][name] == 2)
        assert [one[first] for one in ran[:4]] == [1, 2, 4, 8]


def test_the_hill_climb_turns_back_where_it_gets_worse(ladder: Ladder) -> None:
    choices = play(ladder(9.0, 10.0, 11.0, default=1), POLICIES["hillclimb"], "time", runs=6, seed=0).choices.tolist()
    assert sorted(choices[1:3]) in ([0, 0], [0, 2])
    assert choices[3:] == [0, 0, 0]


def test_zeus_prunes_in_both_directions_twice_and_then_samples(ladder: Ladder) -> None:
    trace = ladder(90.0, 8.0, 10.0, 12.0, -30.0, 11.0, default=2)
    choices = play(trace, POLICIES["zeus"], "time", runs=12, seed=0).choices.tolist()
    assert choices[:5] == [2, 1, 0, 3, 4]  # down until 0 is stopped, up until 4 fails; 5 is never reached
    assert choices[5:8] == [1, 2, 3]  # once more, from the cheapest on
    assert choices[8:] == [1] * 4  # no variance: the cheapest


def test_zeus_samples_where_costs_vary() -> None:
    noisy = tuple(tuple(Execution(s * f, 1.0, True) for f in (0.8, 1.0, 1.2)) for s in (10.0, 10.1))
    trace = Trace("noisy", ({"batch_size": 1.0}, {"batch_size": 2.0}), noisy, 0, "USD")
    assert set(play(trace, POLICIES["zeus"], "time", runs=40, seed=2).choices[4:]) == {0, 1}


def test_optuna_is_told_of_what_was_run_instead_of_what_does_not_exist() -> None:
    policy = POLICIES["optuna-tpe"](Problem(GAPPED, 0, "time", 3))
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


def heard(charge: float) -> tuple[object, float]:
    from jpo.records import Outcome

    return Outcome(duration_seconds=charge), charge


def test_expected_improvement_by_hand() -> None:
    improvement = expected_improvement(np.array([0.0, -1.0, 1.0]), np.array([1.0, 0.0, 0.0]), best=0.0)
    assert improvement == pytest.approx([0.3989423, 1.0, 0.0], abs=1e-6)  # phi(0); certain gain of 1; none


def test_steps_count_the_values_of_each_knob() -> None:
    assert steps_of(GAPPED).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]]
    assert scaled(GAPPED)[:3].tolist() == [[0, 0], [0, 0.5], [0.5, 0]]


def test_a_knob_that_can_be_zero_is_scaled_too() -> None:
    assert scaled([{"gpus": 0.0}, {"gpus": 1.0}, {"gpus": 4.0}]).ravel().tolist() == [0.0, 0.25, 1.0]


def test_the_next_step_leaves_the_other_knobs_alone() -> None:
    steps = steps_of(GAPPED)
    assert next_step(steps, 1, 0, 1) == 3  # batch 8 -> 16 with 2 GPUs
    assert next_step(steps, 1, 1, 1) is None  # batch 8 has no 4 GPUs
    assert next_step(steps, 4, 0, -1) is None
    assert next_step(steps, 7, 1, -1) == 6
