"""Thresholds from earlier runs: bounds by hand, coverage by simulation, numbers as people write them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import a_run

from jpo.cost import Prices
from jpo.cost.sla import keeps
from jpo.cost.thresholds import next_run_bound, rounded, student_quantile, threshold, thresholds
from jpo.records import Outcome
from jpo.wording.names import TARGETS


@pytest.mark.parametrize(
    ("share", "freedom", "expected"),
    [(0.95, 2, 2.919986), (0.95, 3, 2.353363), (0.99, 4, 3.746947), (0.9, 9, 1.383029), (0.5, 5, 0.0), (0.95, 10**6, 1.646379)],
)
def test_students_quantiles_are_those_of_the_tables(share: float, freedom: int, expected: float) -> None:
    assert student_quantile(share, freedom) == pytest.approx(expected, abs=1e-5)


def test_the_bound_of_the_next_run_is_that_of_its_logs() -> None:
    # logs 0, 0.5, 1: mean 0.5, sd 0.5, so 0.5 + 0.5 * 2.919986 * sqrt(4 / 3)
    values = [1.0, math.exp(0.5), math.e]
    assert next_run_bound(values, 0.95, at_most=True) == pytest.approx(math.exp(2.185854), rel=1e-5)
    assert next_run_bound(values, 0.95, at_most=False) == pytest.approx(math.exp(-1.185854), rel=1e-5)
    assert next_run_bound([-1.0, 0.0, 1.0], 0.95, at_most=True) == pytest.approx(3.371709, rel=1e-5)


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("at_most", [True, False])
def test_so_many_of_the_next_runs_keep_it_as_was_asked(runs: int, at_most: bool) -> None:
    drawn = np.exp(np.random.default_rng(0).normal(5.0, 0.1, (2000, runs + 1)))
    bounds = [next_run_bound(list(row[:-1]), 0.9, at_most=at_most) for row in drawn]
    kept = [bool(value <= bound) is at_most for value, bound in zip(drawn[:, -1], bounds, strict=True) if bound is not None]
    assert np.mean(kept) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    ("name", "bound", "expected"),
    [
        ("time_max", 21_000.0, 21_600.0),
        ("time_max", 2_640.0, 2_700.0),
        ("time_max", 91.0, 100.0),
        ("time_max", 0.84, 0.9),
        ("cost_max", 9.31, 10.0),
        ("throughput_min", 523.0, 500.0),
        ("gpu_util_min", 0.481, 0.45),
        ("val_loss_max", 0.4131, 0.415),
        ("val_loss_max", -0.4131, -0.41),
        ("val_loss_max", 0.0, 0.0),
        ("cost_max", 8.0, 8.0),
    ],
)
def test_limits_are_numbers_that_people_write(name: str, bound: float, expected: float) -> None:
    assert rounded(name, bound) == expected


@given(st.sampled_from(sorted(TARGETS)), st.floats(1e-12, 1e12))
def test_rounding_goes_outwards_and_not_far(name: str, bound: float) -> None:
    limit = rounded(name, bound)
    assert keeps(TARGETS[name], bound, limit * (1 + 1e-8) if TARGETS[name].at_most else limit * (1 - 1e-8))
    assert limit == pytest.approx(bound, rel=0.13)


def test_fewer_than_three_runs_tell_no_threshold_and_how_many_are_missing() -> None:
    two = threshold("time_max", [100.0, 90.0], 0.95)
    assert (two.limit, two.least, two.most) == (None, 90, 100)
    assert two.why_not == "measured in 2 of at least 3 runs; 1 more is needed"
    assert threshold("time_max", [], 0.95).least is None


def test_runs_that_differ_too_much_give_no_target() -> None:
    assert threshold("time_max", [1.0, 100.0, 10_000.0], 0.999).why_not == "the runs differ too much"
    assert threshold("gpu_util_min", [0.0, 0.5, 0.9], 0.95).limit is None


def test_gpus_that_were_always_idle_give_no_target_and_not_because_they_differ() -> None:
    assert threshold("gpu_util_min", [0.0, 0.0, 0.0], 0.95).why_not == "the runs measured nothing but 0"


def test_the_cost_has_a_threshold_only_with_prices() -> None:
    runs = [a_run(f"r{at}", parameters={"cpus": 2.0}, outcome=Outcome(duration_seconds=3600.0 + at)) for at in range(3)]
    without, with_prices = (
        {threshold.name: threshold.limit for threshold in thresholds(runs, prices, share=0.95)}
        for prices in (Prices(), Prices(usd_per_cpu_hour=1.0))
    )
    assert (without["cost_max"], with_prices["cost_max"]) == (None, pytest.approx(2.2))
    assert without["time_max"] == with_prices["time_max"] == 3900
