"""Residuals of earlier jobs: what they say of a new one, and what they do not."""

import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.residuals import (
    COORDINATES,
    MOST,
    NODES,
    bent,
    coordinates,
    joined,
    prior_moments,
    residual_forecast,
    residuals_of_job,
)
from jpo.records import Candidates, Draws, Identity, Outcome, Residuals, Run, RunStatus

BATCHES = 2.0 ** np.arange(4, 12)
"""16 to 2048; today's is 64, two doublings above the smallest."""


def candidates(values=BATCHES, current=2):
    values = np.asarray(values, float)[:, None]
    return Candidates(("batch_size",), values, current, np.ones(len(values), bool), np.zeros(len(values)))


def recorded(jobs, *, doublings, failed=None, log_time=None, p_fail=0.05, sd=0.3):
    """Residuals of jobs that all ran the same batch sizes, and ended in the same way."""
    n = len(doublings)
    points = np.zeros((n, len(COORDINATES)))
    points[:, COORDINATES.index("batch_size")] = points[:, COORDINATES.index("batch per GPU")] = doublings
    points[:, COORDINATES.index("memory per sample")] = -np.asarray(doublings)
    failed = np.zeros(n) if failed is None else np.asarray(failed, float)
    times = np.where(failed == 1, np.nan, np.zeros(n) if log_time is None else log_time)
    return joined(
        [
            Residuals((f"job {at}",), np.zeros(n, int), points, times + (failed * 0), np.full(n, sd), failed, np.full(n, p_fail))
            for at in range(jobs)
        ]
    )


def test_coordinates_are_doublings_against_today():
    two = Candidates(("batch_size", "gpus"), np.array([[32.0, 1], [64, 1], [64, 4]]), 0, np.ones(3, bool), np.zeros(3))
    told = dict(zip(COORDINATES, coordinates(two).T, strict=True))
    assert told["batch_size"].tolist() == [0, 1, 1]
    assert told["gpus"].tolist() == [0, 0, 2]
    assert told["batch per GPU"].tolist() == [0, 1, -1]
    assert told["CPUs per GPU"].tolist() == [0, 0, -2]
    assert told["memory per sample"].tolist() == [0, -1, -1]
    assert [told[f"more than {node} GPUs"].tolist() for node in NODES] == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert not told["epochs"].any()


def test_where_jobs_fail_beyond_a_threshold_the_next_is_expected_to_fail_there_and_not_near_the_reference():
    """Ten jobs that ran 1, 2 and 3 doublings: all failed at 3, none below. Simulated jobs: one in twenty."""
    forecast = residual_forecast(recorded(10, doublings=[1, 2, 3], failed=[0, 0, 1]), candidates())
    excess = dict(zip((np.log2(BATCHES) - 6).astype(int).tolist(), forecast.excess, strict=True))
    assert forecast.jobs == 10
    assert excess[0] == pytest.approx(0.0, abs=1e-9), "the reference is what jobs are measured against"
    assert excess[3] > 0.7
    assert excess[4] > 0.7
    assert excess[-1] < 0.1
    assert excess[1] < 0.1


def test_jobs_as_simulated_say_that_nothing_is_to_be_expected():
    forecast = residual_forecast(recorded(12, doublings=[1, 2, 3], log_time=[0.02, -0.03, 0.01]), candidates())
    near = np.abs(np.log2(BATCHES) - 6) <= 3
    assert np.abs(forecast.shift[near]).max() < 0.03
    assert forecast.shift_sd[near].max() < 0.1
    assert np.abs(forecast.excess[near]).max() < 0.1


def test_jobs_that_miss_to_different_sides_say_little_and_those_that_miss_to_one_side_much():
    def shift(sign):
        parts = [recorded(1, doublings=[1, 2, 3], log_time=np.array([0.2, 0.4, 0.6]) * sign(at)) for at in range(12)]
        parts = [replace(part, workloads=(f"{at}",)) for at, part in enumerate(parts)]
        return residual_forecast(joined(parts), candidates()).shift[5]

    assert shift(lambda _: 1) == pytest.approx(0.6, abs=0.1)
    assert shift(lambda at: (-1) ** at) == pytest.approx(0.0, abs=0.03)


def test_one_job_alone_changes_less_than_several():
    slow = [residual_forecast(recorded(n, doublings=[1, 2, 3], log_time=[0.1, 0.3, 0.6]), candidates()) for n in (1, 3, 10)]
    first, third, tenth = (one.shift[5] for one in slow)
    assert first < 0.3 < third < tenth < 0.65
    once = [recorded(n, doublings=[2, 3], failed=[0, 1], p_fail=0.3) for n in (1, 3, 10)]
    failing = [residual_forecast(residuals, candidates()).excess[5] for residuals in once]
    assert failing[0] < 0.35 < failing[1] < failing[2] <= 0.7 + 0.05


def test_the_order_of_jobs_and_rows_does_not_matter():
    parts = [
        replace(recorded(1, doublings=[1, 2 + at], log_time=[0.1 * at, 0.2], failed=[0, at % 2]), workloads=(f"{at}",))
        for at in range(6)
    ]
    one, other = (residual_forecast(joined(several), candidates()) for several in (parts, parts[::-1]))
    for name in ("shift", "shift_sd", "excess"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9)


def test_parts_of_one_workload_become_one_job_and_the_newest_configurations_count():
    part = recorded(1, doublings=[1, 2])
    both = joined([part, replace(part, workloads=("other",)), part])
    assert both.workloads == ("job 0", "other")
    assert both.job.tolist() == [0, 0, 1, 1, 0, 0]
    many = joined([recorded(MOST, doublings=[1, 2]), replace(part, workloads=("newest",))])
    assert len(many.job) == len(many.points) == MOST
    assert many.job[-1] == many.workloads.index("newest")
    assert residual_forecast(joined([replace(part, workloads=("a",)), part]), candidates()).jobs == 2


def test_without_one_run_that_ended_well_times_say_nothing():
    forecast = residual_forecast(recorded(5, doublings=[2, 3], failed=[1, 1]), candidates())
    assert not forecast.shift.any()
    assert forecast.excess[5] > 0.5


def a_run(batch, seconds, status=RunStatus.SUCCEEDED, number=[0]):  # noqa: B006
    number[0] += 1
    outcome = Outcome(duration_seconds=seconds)
    return Run(f"r{number[0]}", Identity("d", "m", "f"), {"batch_size": float(batch)}, status, None, 0.0, outcome, "told")


@pytest.fixture
def prior(belief):
    """Simulated jobs: 64 and 128 take e^0, 256 takes e^-1 or e^1, and fails in half of them."""
    return belief([[0, 0, 1.0], [0, 0, -1.0]], runs=(0, 0, 0), fails=[[0, 0, 1], [0, 0, 0]])


THREE = candidates([64, 128, 256], current=0)


def test_residuals_are_what_was_seen_less_what_was_simulated(prior):
    runs = [a_run(64, 100.0), a_run(64, 100.0), a_run(128, 200.0), a_run(256, 7.0, RunStatus.OOM_KILLED), a_run(256, 50.0)]
    told = residuals_of_job("mine", THREE, prior, runs)
    assert told.workloads == ("mine",)
    assert told.points[:, COORDINATES.index("batch_size")].tolist() == [1, 2]
    assert told.log_time == pytest.approx([math.log(2), math.log(0.5)])
    assert told.sd == pytest.approx([0, 1])
    assert told.failed.tolist() == [0, 0.5]
    assert told.p_fail.tolist() == [0, 0.5]
    assert prior_moments(prior)[0] == pytest.approx([0, 0, 0])


def test_a_job_with_one_configuration_or_without_a_reference_says_nothing(prior):
    assert residuals_of_job("mine", THREE, prior, [a_run(64, 100.0)]) is None
    assert residuals_of_job("mine", THREE, prior, [a_run(64, 1.0, RunStatus.FAILED), a_run(128, 100.0)]) is None


def test_what_was_stopped_or_has_no_duration_is_no_failure(prior):
    runs = [a_run(64, 100.0), a_run(128, 7.0, RunStatus.STOPPED), a_run(256, None)]
    assert residuals_of_job("mine", THREE, prior, runs) is None
    told = residuals_of_job("mine", THREE, prior, [*runs, a_run(256, 100.0), a_run(128, 9.0, RunStatus.DIVERGED)])
    assert told.failed.tolist() == [1, 0]


def simulated(n=4000, p_fail=0.1):
    rng = np.random.default_rng(0)
    flat = np.zeros((n, len(BATCHES)))
    fails = rng.random((n, 1)) < np.where(np.arange(len(BATCHES)) == 2, 0.0, p_fail)
    return Draws(rng.normal(0, 0.3, flat.shape), flat, flat, flat, fails)


def test_bent_draws_fail_as_often_as_told_and_along_a_particle():
    draws = simulated()
    forecast = residual_forecast(recorded(10, doublings=[1, 2, 3], failed=[0, 0, 1]), candidates())
    here = bent(draws, forecast, 0)
    wanted = np.clip(draws.fails.mean(axis=0) + forecast.excess, 0, 1)
    assert here.fails.mean(axis=0) == pytest.approx(wanted, abs=0.03)
    assert here.fails[:, 2].sum() == 0
    beyond = here.fails[:, 5:] & ~draws.fails[:, 5:]
    order = np.argsort(forecast.excess[5:])
    assert (beyond[:, order[1:]] >= beyond[:, order[:-1]])[~draws.fails[:, 5:].any(axis=1)].all(), "less excess: fewer, the same"


def test_bent_draws_fail_less_often_where_jobs_here_did_not():
    draws = simulated(p_fail=0.6)
    forecast = residual_forecast(recorded(10, doublings=[1, 2, 3], p_fail=0.6), candidates())
    here = bent(draws, forecast, 0)
    assert forecast.excess[4] < -0.3
    assert here.fails.mean(axis=0) == pytest.approx(np.clip(draws.fails.mean(axis=0) + forecast.excess, 0, 1), abs=0.03)
    assert not (here.fails & ~draws.fails)[:, 2:].any()


def test_bent_draws_are_slower_by_what_was_told_and_a_particle_goes_along_everywhere_or_nowhere():
    draws = simulated()
    forecast = residual_forecast(recorded(2, doublings=[1, 2, 3], log_time=[0.1, 0.3, 0.6]), candidates())
    moved = bent(draws, forecast, 0).log_time - draws.log_time
    assert moved.mean(axis=0) == pytest.approx(forecast.shift, abs=0.02)
    assert moved.std(axis=0) == pytest.approx(forecast.shift_sd, rel=0.05, abs=1e-6)
    assert np.corrcoef(moved[:, 4], moved[:, 5])[0, 1] == pytest.approx(1.0)
    assert np.abs(moved[:, 2]).max() < 1e-6, "the reference stays"
    assert np.array_equal(moved, bent(draws, forecast, 0).log_time - draws.log_time)
    assert not np.array_equal(moved, bent(draws, forecast, 1).log_time - draws.log_time)
