from __future__ import annotations

import numpy as np
import pytest
from weighted_latents import RangeWeights, weighted

from jpo.records import Candidates
from jpo.simulate.knobs import Knobs, knobs_of
from jpo.simulate.latents import Latents
from jpo.simulate.speed import Speed, _on_cpus, host_memory_exceeded, step_time

JOBS = 1500
NO_PIPELINE: RangeWeights = {"loading": (1.0, *[1e-12] * 99)}
FITS: RangeWeights = {"memory suffices": (1.0, *[1e-12] * 9)}
SCARCE: RangeWeights = {"memory suffices": (*[1e-12] * 9, 1.0)}
SMOOTH: RangeWeights = {"step residual": (1.0, *[1e-12] * 999)}


def knobs(names: tuple[str, ...], *rows: tuple[float, ...]) -> Knobs:
    return knobs_of(
        Candidates(names, np.array(rows, dtype=np.float64), 0, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))
    )


def speed(names: tuple[str, ...], *rows: tuple[float, ...], prior: RangeWeights | None = None, seed: int = 0) -> Speed:
    return step_time(knobs(names, *rows), weighted(JOBS, seed, {**NO_PIPELINE, **SMOOTH, **(prior or {})}))


def ratio(drawn: Speed, row: int, to: int = 0) -> np.ndarray:
    """How much longer a step takes, shape (JOBS,)."""
    return np.exp(drawn.log_step[:, row] - drawn.log_step[:, to])


def test_a_step_takes_longer_with_the_batch_but_less_than_in_proportion() -> None:
    longer = ratio(speed(("batch_size", "gpus"), (32, 1), (128, 1), prior=FITS), 1)
    assert (longer > 0.999).all()
    assert (longer < 4.001).all()


def test_synchronisation_is_paid_from_two_gpus_on_and_grows_with_their_number() -> None:
    """The batch per GPU stays the same, so that only synchronising makes a difference."""
    names, rows = ("batch_size", "gpus"), ((32, 1), (64, 2), (512, 16))
    drawn = speed(names, *rows, prior=FITS)
    assert (ratio(drawn, 1) > 1 - 1e-3).all()
    assert (ratio(drawn, 2, 1) > 1 - 1e-3).all()
    little, much = (speed(names, *rows, prior={**FITS, "synchronisation": weights}) for weights in ((1, 1e-12), (1e-12, 1)))
    assert np.median(ratio(much, 1)) > np.median(ratio(little, 1)) + 0.02


def test_a_second_node_costs_where_the_network_is_slow() -> None:
    names, rows = ("batch_size", "gpus"), ((128, 4), (256, 8))
    dear: RangeWeights = {**FITS, "usual node": (1, 1e-12), "synchronisation": (1e-12, 1)}
    slow, fast = (
        ratio(speed(names, *rows, prior={**dear, "fast network": weights}), 1)
        for weights in ((1e-12, 1, 1, 1), (1, *[1e-12] * 3))
    )
    assert np.median(slow) > np.median(fast) + 0.05
    assert (slow > 2).mean() > 0.05  # eight GPUs on two nodes can be slower than four on one, the batch per GPU equal
    assert fast.max() < 1.05


def test_a_batch_beyond_the_memory_is_accumulated_or_ends_the_run() -> None:
    """Seventy of a hundred split it into passes, each of which costs a gradient; the others run out of memory."""
    names, rows = ("batch_size", "gpus"), ((32, 2), (4096, 2))
    accumulating = speed(names, *rows, prior={**SCARCE, "accumulates": (1, 1e-12, 1e-12)})
    failing = speed(names, *rows, prior={**SCARCE, "accumulates": (1e-12,) * 9 + (1.0,)})
    assert not accumulating.out_of_memory.any()
    assert failing.out_of_memory[:, 1].mean() > 0.3
    assert not failing.out_of_memory[:, 0].any()
    split = failing.out_of_memory[:, 1]  # the same jobs, for which the memory is too small
    assert (accumulating.log_step[split, 1] > failing.log_step[split, 1] + 1e-6).mean() > 0.9
    assert accumulating.log_step[~split, 1] == pytest.approx(failing.log_step[~split, 1])


def test_a_row_without_gpus_has_no_gpu_memory_to_run_out_of() -> None:
    drawn = speed(("batch_size", "gpus"), (32, 1), (4096, 1), (4096, 0), prior={**SCARCE, "accumulates": (1e-12,) * 9 + (1.0,)})
    assert drawn.out_of_memory[:, 1].any()
    assert not drawn.out_of_memory[:, 2].any()


def test_more_gpus_bring_the_batch_back_into_memory() -> None:
    drawn = speed(("batch_size", "gpus"), (32, 1), (1024, 1), (1024, 16), prior={**SCARCE, "accumulates": (1e-12,) * 9 + (1.0,)})
    assert drawn.out_of_memory[:, 1].sum() > 2 * drawn.out_of_memory[:, 2].sum()


def test_cpus_feed_the_input_pipeline() -> None:
    starved: RangeWeights = {"loading": (*[1e-12] * 9, 1.0)}
    drawn = speed(("batch_size", "gpus", "cpus"), (256, 1, 4), (256, 1, 2), (256, 1, 8), prior=starved)
    assert np.median(ratio(drawn, 1)) > 1.3
    assert np.median(ratio(drawn, 2)) < 0.9
    fed = speed(("batch_size", "gpus", "cpus"), (256, 1, 4), (256, 1, 2))
    assert ratio(fed, 1) == pytest.approx(np.ones(JOBS), abs=0.05)


def test_where_cpus_come_with_the_node_another_node_feeds_as_much_again() -> None:
    starved: RangeWeights = {
        **FITS,
        "loading": (*[1e-12] * 19, 1.0),
        "usual node": (1, 1e-12),
        "half saturation": (1.0, *[1e-12] * 9),
    }
    drawn = speed(("batch_size", "gpus"), (512, 4), (512, 3), (512, 8), prior=starved)
    assert ratio(drawn, 1) == pytest.approx(np.ones(JOBS), abs=0.1)
    assert np.median(ratio(drawn, 2)) < 0.7


def test_gpus_that_wait_are_less_busy() -> None:
    drawn = speed(("batch_size", "gpus"), (256, 1), (256, 8), prior=FITS)
    assert np.median(drawn.log_busy[:, 1] - drawn.log_busy[:, 0]) < -0.1
    assert (drawn.log_busy <= 0).all()


def test_cpus_split_the_work_but_for_a_serial_share_and_each_thread_costs() -> None:
    """By hand: 1 + work (1 + serial more) / cpus + per thread more."""
    latents = Latents(3, 0)
    step, busy = _on_cpus(knobs(("batch_size", "cpus"), (8, 1), (8, 4)), np.ones((3, 1)), latents)
    serial, thread = latents.log_uniform("serial share", 0.005, 0.5), latents.log_uniform("thread cost", 0.001, 0.3)
    by_hand = np.concatenate([1 + 0.5 + 0 * serial, 1 + 0.5 * (1 + 3 * serial) / 4 + 3 * thread], axis=1)
    assert step == pytest.approx(by_hand)
    assert busy == pytest.approx(1.5 / (np.array([1, 4]) * by_hand))


def test_layers_make_each_step_longer_by_no_more_than_their_number() -> None:
    longer = ratio(speed(("num_layers",), (2,), (4,)), 1)
    assert (longer > 1.05).all()
    assert (longer < 2.001).all()


def test_a_job_that_leaves_its_gpus_is_slower() -> None:
    assert (ratio(speed(("gpus", "cpus"), (1, 4), (0, 4)), 1) > 1.5).mean() > 0.9


def test_host_memory_ends_a_run_when_it_is_cut_or_the_batch_grows() -> None:
    names = ("batch_size", "memory_gib")
    rows = knobs(names, (32, 16), (32, 4), (32, 64), (1024, 16), (1024, 256))
    shares = host_memory_exceeded(rows, weighted(JOBS, 0, {})).mean(axis=0)
    assert shares[0] < 0.02
    assert shares[1] > 0.3
    assert shares[2] == 0
    assert shares[3] > shares[4]


def test_memory_that_is_the_same_everywhere_ends_nothing() -> None:
    assert not host_memory_exceeded(knobs(("batch_size", "memory_gib"), (32, 16), (4096, 16)), weighted(JOBS, 0, {})).any()


def test_the_step_residual_is_smooth_over_batch_and_gpus() -> None:
    rough: RangeWeights = {**FITS, "step residual": (*[1e-12] * 9, 1.0)}
    rows = ((32, 1), (64, 1), (2.0**30, 1))
    difference = (
        speed(("batch_size", "gpus"), *rows, prior=rough).log_step - speed(("batch_size", "gpus"), *rows, prior=FITS).log_step
    )
    assert 0.1 < difference.std() < 0.35
    assert np.corrcoef(difference[:, 0], difference[:, 1])[0, 1] > 0.8
