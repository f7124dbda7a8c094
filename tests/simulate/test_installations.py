from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.records import Candidates, Draws
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.installations import KINDS, Installation, Kind, draw_installation, outside

LN2 = np.log(2.0)


def candidates(names: tuple[str, ...], *rows: tuple[float, ...], current: int = 0) -> Candidates:
    return Candidates(names, np.array(rows), current, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))


def flat(grid: Candidates, jobs: int = 1) -> Draws:
    """Jobs to which no knob makes a difference, and which never fail."""
    zeros = np.zeros((jobs, len(grid.values)))
    return Draws(zeros, zeros, zeros, zeros, zeros > 0)


def luck() -> np.random.Generator:
    return np.random.default_rng(3)


BATCHES = candidates(("batch_size", "gpus", "cpus"), (64, 1, 8), (128, 1, 8), (256, 1, 8), (256, 4, 8), (64, 1, 32), (64, 1, 4))


def test_none_changes_nothing() -> None:
    truth = flat(BATCHES)
    assert outside(Installation("none"), BATCHES, truth, luck()) is truth


@pytest.mark.parametrize(
    ("kind", "failing"),
    [
        ("batch-limit", [False, False, True, False, False, False]),  # the batch of one GPU more than doubled
        ("host-memory", [False, False, True, False, True, False]),  # batch per GPU x CPUs more than doubled
    ],
)
def test_a_run_fails_where_more_must_fit_than_there_is_room_for(kind: Kind, failing: list[bool]) -> None:
    fails = outside(Installation(kind, room=1.5), BATCHES, flat(BATCHES, 200), luck()).fails
    assert (fails.mean(axis=0) > 0.5).tolist() == failing
    assert 0 < fails[:, failing].mean() <= 1
    assert not fails[:, BATCHES.current].any()


def test_without_a_number_of_cpus_there_are_loaders_for_each_gpu() -> None:
    grid = candidates(("batch_size", "gpus"), (64, 1), (256, 4))
    assert outside(Installation("host-memory", room=1.0), grid, flat(grid), luck()).fails.tolist() == [[False, True]]


def test_gpus_beyond_the_node_bring_nothing_and_today_stays_the_reference() -> None:
    grid = candidates(("gpus",), (1,), (2,), (4,), (8,), current=2)
    truth = flat(grid, 500)
    there = outside(Installation("slow-links", node=2.0, slope=1.0), grid, truth, luck())
    assert there.log_time.mean(axis=0) == pytest.approx([-LN2, -LN2, 0.0, LN2], abs=0.02)
    assert there.log_utilisation == pytest.approx(-there.log_time)


def test_loaders_limit_gpus_and_batches_until_there_are_more_cpus() -> None:
    grid = candidates(("batch_size", "gpus", "cpus"), (64, 2, 8), (64, 4, 8), (64, 4, 16), (256, 2, 8), (64, 2, 4))
    there = outside(Installation("slow-loaders", room=0.0, slope=1.0, batch_share=0.5), grid, flat(grid, 4000), luck())
    half = 0.25 * np.sqrt(2 / np.pi) / 2  # mean of max(N(0, .25), 0): what jobs without room lose today
    assert there.log_time.mean(axis=0) == pytest.approx([0, LN2 * (1 - half), 0, LN2 * (1 - half), LN2 * (1 - half)], abs=0.02)


def test_a_warp_is_shared_by_all_jobs_but_for_a_smaller_part_of_their_own() -> None:
    grid = random_candidates(np.random.default_rng(0))
    truth = flat(grid, 400)
    here = Installation("warped", bend=0.4, seed=7)
    some, others = (outside(here, grid, truth, np.random.default_rng(seed)).log_time for seed in (1, 2))
    shared = some.mean(axis=0)
    assert np.corrcoef(shared, others.mean(axis=0))[0, 1] > 0.95
    elsewhere = outside(Installation("warped", bend=0.4, seed=8), grid, truth, luck()).log_time.mean(axis=0)
    assert np.abs(elsewhere - shared).max() > 0.2
    assert 0 < np.std(some - shared) < 0.4


def test_a_stretch_makes_every_difference_larger() -> None:
    truth = draw_jobs(BATCHES, 50, luck())
    there = outside(Installation("warped", stretch=1.5), BATCHES, truth, luck())
    assert there.log_time == pytest.approx(np.clip(1.5 * truth.log_time, -6, 6))


@pytest.mark.parametrize("kind", ["slow-loaders", "slow-links", "warped"])
def test_the_work_of_a_run_stays_the_same(kind: Kind) -> None:
    truth = replace(flat(BATCHES), log_throughput=np.zeros((1, len(BATCHES.values))))
    there = outside(Installation(kind, bend=0.3), BATCHES, truth, luck())
    assert np.ptp(there.log_time) > 0
    assert there.log_throughput == pytest.approx(-there.log_time)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_drawn_today_stays_the_reference_and_works(kind: Kind) -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        grid = random_candidates(rng)
        truth = draw_jobs(grid, 5, rng)
        there = outside(draw_installation(rng, kind), grid, truth, rng)
        for values in (there.log_time, there.log_loss, there.log_utilisation, there.log_power, there.fails):
            assert values.shape == truth.log_time.shape
            assert np.isfinite(values).all()
        assert (there.log_time[:, grid.current] == 0).all()
        assert (there.log_utilisation[:, grid.current] == 0).all()
        assert (there.fails[:, grid.current] == truth.fails[:, grid.current]).all()
        assert (there.fails >= truth.fails).all()


def test_kinds_are_drawn_alike_and_the_same_seed_draws_the_same() -> None:
    drawn = [draw_installation(np.random.default_rng(seed)) for seed in range(200)]
    assert {one.kind for one in drawn} == set(KINDS) - {"none"}
    assert drawn[17] == draw_installation(np.random.default_rng(17))
    assert {one.kind for one in (draw_installation(luck(), kind) for kind in KINDS)} == set(KINDS)
