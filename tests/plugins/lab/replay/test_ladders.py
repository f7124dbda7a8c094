from __future__ import annotations

from itertools import product

from jpo.plugins.lab.replay.ladders import next_step, scaled, steps_of

GAPPED = tuple({"batch_size": b, "gpus": g} for b, g in product((8.0, 16.0, 32.0), (1.0, 2.0, 4.0)) if b / g > 2)
"""A grid with corners cut off: batch size 8 has no 4 GPUs."""


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
