from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.records.ranges import MOST_STEPS, Range


@pytest.mark.parametrize(
    ("given_range", "steps"),
    [
        (Range(1, 4, integer=True), (1, 2, 3, 4)),
        (Range(0.1, 0.3, multiple_of=0.1), (0.1, 0.2, 0.3)),
        (Range(5, 20, multiple_of=8), (8, 16)),
        (Range(0, 64, integer=True, multiple_of=16), (0, 16, 32, 48, 64)),
        (Range(16, 1024, log=True, integer=True), (16, 32, 64, 128, 256, 512, 1024)),
        (Range(20, 1000, log=True, integer=True), (20, 32, 64, 128, 256, 512, 1000)),
        (Range(1e-3, 1e-2, log=True), (0.001, 0.00177828, 0.00316228, 0.00562341, 0.01)),
        (Range(7, 7), (7,)),
        (Range(7, 7, log=True), (7,)),
        (Range(-6, 6), tuple(range(-6, 7))),
        (Range(-0.5, 0.5, integer=True), (0,)),
    ],
)
def test_steps_of_a_range(given_range: Range, steps: tuple[float, ...]) -> None:
    assert given_range.steps() == pytest.approx(steps)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"low": 2, "high": 1}, "not smaller"),
        ({"low": math.nan, "high": 1}, "finite"),
        ({"low": 0, "high": math.inf}, "finite"),
        ({"low": -1.7e308, "high": 1.7e308}, "finite"),
        ({"low": 0, "high": 1, "log": True}, "above 0"),
        ({"low": 0, "high": 1, "multiple_of": 0}, "above 0"),
        ({"low": 0, "high": 1, "multiple_of": math.nan}, "above 0"),
        ({"low": 5, "high": 7, "multiple_of": 8}, "no multiple of 8"),
        ({"low": 0.2, "high": 0.8, "integer": True}, "no multiple of 1"),
        ({"low": 1, "high": 8, "integer": True, "multiple_of": 0.5}, "whole numbers"),
        ({"low": 0, "high": 1.7e308}, "finite"),
        ({"low": 0, "high": 1e8, "multiple_of": 1e-301}, "more multiples of 1e-301"),
    ],
)
def test_a_range_without_numbers_is_refused(options: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Range(**options)  # type: ignore[arg-type]


@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(0, 1e6),
    log=st.booleans(),
    integer=st.booleans(),
    unit=st.none() | st.integers(1, 40),
)
def test_steps_lie_in_the_range_ascend_and_are_few(low: float, width: float, log: bool, integer: bool, unit: int | None) -> None:
    try:
        found = Range(low, low + width, log, integer, unit)
    except ValueError:
        return
    steps = found.steps()
    assert list(steps) == sorted(set(steps))
    assert found.low <= steps[0] <= steps[-1] <= found.high
    assert 0 < len(steps) <= MOST_STEPS + 3
    if unit or integer:
        assert all(step % (unit or 1) == 0 for step in steps)


def test_a_range_over_all_of_the_floats_has_finite_steps() -> None:
    steps = Range(1e-320, 1e308, log=True).steps()
    assert all(map(math.isfinite, steps))
    assert len(steps) == MOST_STEPS


@pytest.mark.parametrize(
    ("given_range", "steps"),
    [
        (Range(0, 0.5), (0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)),
        (Range(1e-6, 1e-1, log=True), (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1)),
        (Range(2e-4, 2e-3, log=True), (2e-4, 5e-4, 1e-3, 2e-3)),
        (Range(0, 2000, integer=True, multiple_of=50), (0, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000)),
        (Range(3, 10, integer=True), (3, 4, 5, 6, 7, 8, 9, 10)),
        (Range(5, 100, multiple_of=7), (7, 14, 28, 42, 56, 70, 84, 98)),
        (Range(16, 1024, log=True, integer=True), (16, 20, 50, 100, 200, 500, 1000, 1024)),
        (Range(-1, 1), (-1, -0.8, -0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8, 1)),
        (Range(0.123, 0.123), (0.123,)),
        (Range(0, 5e-324), (0, 5e-324)),  # no number lies between
        (Range(-1e-322, 1e-322), (-1e-322, 1e-322)),
        (Range(1.2e308, 1.5e308, log=True, multiple_of=1e307), (1.2e308, 1.5e308)),
    ],
)
def test_round_steps_are_what_people_write(given_range: Range, steps: tuple[float, ...]) -> None:
    assert given_range.round_steps() == pytest.approx(steps)


@given(low=st.floats(-1e6, 1e6), width=st.floats(0, 1e6), log=st.booleans(), unit=st.none() | st.integers(1, 40))
def test_round_steps_lie_in_the_range_ascend_and_are_few(low: float, width: float, log: bool, unit: int | None) -> None:
    try:
        found = Range(low, low + width, log, multiple_of=unit)
    except ValueError:
        return
    steps = found.round_steps()
    assert list(steps) == sorted(set(steps))
    assert found.low <= steps[0] <= steps[-1] <= found.high
    assert 0 < len(steps) <= 2 * MOST_STEPS or log
    if unit:
        assert all(step % unit == 0 for step in steps)
