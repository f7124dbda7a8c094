from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.forecast.before_after import compare, compare_per_result, compare_shares, compare_with_forecast
from jpo.records import Interval


def test_the_ratio_is_that_of_the_geometric_means() -> None:
    result = compare("cost_usd", [1.0, 4.0, 2.0], [1.0, 1.0, 8.0], more_is_better=False, seed=0)
    assert (result.before, result.after) == (pytest.approx(2.0), pytest.approx(2.0))
    assert result.change is not None
    assert result.change.mean == pytest.approx(1.0)
    assert result.change.low < 1 < result.change.high
    assert result.word == "no clear change"


def test_a_clear_change_has_a_word_that_knows_what_is_better() -> None:
    slow, fast = [100.0, 102.0, 98.0, 101.0], [50.0, 51.0, 49.0]
    assert compare("duration_seconds", slow, fast, more_is_better=False, seed=0).word == "better"
    assert compare("duration_seconds", fast, slow, more_is_better=False, seed=0).word == "worse"
    assert compare("gpu_utilisation", fast, slow, more_is_better=True, seed=0).word == "better"


@pytest.mark.parametrize(("before", "after"), [([1.0, 2.0], [1.0] * 9), ([1.0] * 9, [1.0, 2.0]), ([], [1.0] * 3), ([], [])])
def test_fewer_than_three_runs_on_a_side_have_no_interval(before: list[float], after: list[float]) -> None:
    result = compare("duration_seconds", before, after, more_is_better=False, seed=0)
    assert (result.change, result.word) == (None, "too few")
    assert (result.runs_before, result.runs_after) == (len(before), len(after))


def test_what_has_no_logarithm_is_compared_by_difference() -> None:
    result = compare("gpu_utilisation", [0.0, 0.0, 0.6], [0.8, 0.8, 0.8], more_is_better=True, seed=0)
    assert (result.kind, result.runs_before, result.before, result.after) == (
        "difference",
        3,
        pytest.approx(0.2),
        pytest.approx(0.8),
    )
    assert result.change is not None
    assert result.change.mean == pytest.approx(0.6)
    losses = compare("val_loss", [-1.0, -1.1, -0.9], [-2.0, -2.1, -1.9], more_is_better=False, seed=0)
    assert (losses.before, losses.word) == (pytest.approx(-1.0), "better")


def test_what_is_not_finite_does_not_count() -> None:
    result = compare("val_loss", [1.0, 1.0, math.nan, math.inf], [2.0], more_is_better=False, seed=0)
    assert (result.kind, result.runs_before, result.before, result.after) == ("ratio", 2, 1.0, 2.0)


@pytest.mark.parametrize("value", [65536.1, 12.3, 1e-7, 0.1, -0.3, 0.0])
def test_equal_values_are_no_change_however_their_mean_is_rounded(value: float) -> None:
    words = {compare("x", [value] * n, [value] * m, more_is_better=True, seed=0).word for n in range(3, 9) for m in range(3, 9)}
    assert words == {"no clear change"}


def test_values_that_no_machine_measures_have_bounds_all_the_same() -> None:
    result = compare("x", [1e-300] * 3, [1e300] * 3, more_is_better=False, seed=0)
    assert result.change is not None
    assert (math.isfinite(result.change.high), result.word) == (True, "worse")


def test_runs_that_are_all_alike_have_an_interval_of_one_point() -> None:
    result = compare("cost_usd", [2.0] * 3, [1.0] * 3, more_is_better=False, seed=0)
    assert result.change is not None
    assert (result.change.low, result.change.high, result.word) == (0.5, 0.5, "better")


def test_the_same_runs_give_the_same_interval() -> None:
    sides = [1.0, 2.0, 3.0], [2.0, 3.0, 5.0]
    assert compare("x", *sides, more_is_better=True, seed=1) == compare("x", *sides, more_is_better=True, seed=1)
    assert compare("x", *sides, more_is_better=True, seed=1) != compare("x", *sides, more_is_better=True, seed=2)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 12), (10, 10)])
def test_ninety_percent_intervals_hold_ninety_percent(n: int, m: int) -> None:
    """Without the stretch for small groups they hold 70% of three against three."""
    rng = np.random.default_rng(0)
    held = 0
    for number in range(300):
        before, after = np.exp(rng.normal(0, 0.1, n)), np.exp(rng.normal(0, 0.2, m))
        change = compare("x", list(before), list(after), more_is_better=True, seed=number).change
        assert change is not None
        held += change.low <= 1 <= change.high
    assert 0.85 <= held / 300 <= 0.96


def test_shares_differ_as_in_newcombe() -> None:
    """56 of 70 against 48 of 80; by the same formula the 95% bounds are his table II's .0524 and .3339."""
    result = compare_shares("failed", [True] * 48 + [False] * 32, [True] * 56 + [False] * 14)
    assert result.change is not None
    assert (result.change.mean, result.change.low, result.change.high) == pytest.approx((0.2, 0.0766, 0.3136), abs=1e-4)
    assert result.word == "worse"


def test_no_failure_on_either_side_is_no_certainty() -> None:
    result = compare_shares("failed", [False] * 5, [False] * 8)
    assert result.change is not None
    assert result.change.low < 0 < result.change.high
    assert (result.before, result.after, result.word) == (0.0, 0.0, "no clear change")
    assert compare_shares("failed", [], [True]).before is None


def test_what_is_no_measurement_makes_no_mean_infinite() -> None:
    line = compare("f1", [1e300, 2.0, 1.7e308, -1e200], [3.0, 1e155], more_is_better=True, seed=0, difference=True)
    assert (line.before, line.after, line.runs_before, line.runs_after) == (2.0, 3.0, 1, 1)


def test_a_forecast_stands_in_with_its_own_spread() -> None:
    """By hand: 100 (50 to 200) is a noise of ln 2 / 1.645 = 0.4214; against one run the interval is sqrt 2 as wide."""
    result = compare_with_forecast("duration_seconds", Interval(100.0, 50.0, 200.0), [20.0], more_is_better=False, runs_before=1)
    assert (result.basis, result.kind, result.before, result.runs_before, result.runs_after) == ("forecast", "ratio", 100.0, 1, 1)
    assert result.change is not None
    width = 2 ** math.sqrt(2)
    assert (result.change.mean, result.change.low, result.change.high) == (
        pytest.approx(0.2),
        pytest.approx(0.2 / width),
        pytest.approx(0.2 * width),
    )
    assert result.word == "better"
    many = compare_with_forecast("duration_seconds", Interval(100.0, 50.0, 200.0), [20.0] * 50, more_is_better=False)
    assert many.change is not None
    assert many.change.high == pytest.approx(0.4), "what is left is what the forecast does not know"


def test_a_forecast_that_has_no_logarithm_is_compared_by_difference() -> None:
    result = compare_with_forecast("wer", Interval(0.1, -0.1, 0.3), [0.0, 0.1], more_is_better=False)
    assert (result.kind, result.after, result.word) == ("difference", pytest.approx(0.05), "no clear change")
    none = compare_with_forecast("wer", Interval(0.1, 0.05, 0.3), [], more_is_better=False)
    assert (none.before, none.after, none.change, none.word) == (0.1, None, None, "too few")


def test_means_that_differ_by_rounding_alone_differ_by_nothing() -> None:
    values = [-2.95 + error for error in (1e-15, -2e-15, 3e-15)]
    told = compare("bleu", [-2.95, -2.95, -2.95], values, more_is_better=True, seed=0, difference=True)
    assert told.change == Interval(0.0, 0.0, 0.0)
    expected = Interval(-2.95, -3.1, -2.8)
    told = compare_with_forecast("bleu", expected, values, more_is_better=True, difference=True)
    assert told.change is not None
    assert (told.change.mean, told.change.high) == (0.0, pytest.approx(0.15, rel=1e-3))


def per_result(*runs: tuple[float, bool]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([took for took, _ in runs]), np.array([float(well) for _, well in runs])


def test_what_brought_nothing_is_charged_to_the_results() -> None:
    """Halved runs of which every second fails cost as much per model as before."""
    line = compare_per_result(
        "duration_seconds", per_result(*[(100.0, True)] * 4), per_result(*[(50.0, True), (50.0, False)] * 4)
    )
    assert (line.before, line.after, line.runs_after) == (pytest.approx(100.0), pytest.approx(100.0), 8)
    assert line.change is not None
    assert line.change.mean == pytest.approx(1.0)
    assert line.word == "no clear change"


def test_without_a_result_there_is_no_ratio() -> None:
    line = compare_per_result("duration_seconds", per_result(*[(100.0, True)] * 4), per_result(*[(50.0, False)] * 4))
    assert (line.after, line.change, line.word) == (None, None, "too few")


def test_a_forecast_stands_in_for_what_a_result_took_before() -> None:
    after, expected = per_result((60.0, True), (40.0, False), (60.0, True)), Interval(100.0, 90.0, 112.0)
    line = compare_per_result("duration_seconds", per_result((100.0, True)), after, expected)
    assert (line.basis, line.before, line.runs_before) == ("forecast", 100.0, 1)
    assert line.change is not None
    assert line.change.mean == pytest.approx(0.8)


@pytest.mark.parametrize("fails", [0.0, 0.3])
def test_intervals_of_what_a_result_takes_hold_ninety_percent(fails: float) -> None:
    rng, inside, tries = np.random.default_rng(0), 0, 400
    for _ in range(tries):
        before, after = ((rng.lognormal(0, 0.3, n), (rng.random(n) >= share) * 1.0) for n, share in ((8, 0.0), (12, fails)))
        change = compare_per_result("duration_seconds", before, after).change
        inside += change is not None and change.low <= 1 / (1 - fails) <= change.high
    assert 0.84 < inside / tries < 0.96
