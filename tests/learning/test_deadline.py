from __future__ import annotations

import time
from math import inf

import pytest

from jpo.learning.deadline import Deadline, in_seconds


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    return clock


def test_it_ends_before_the_longest_step_would_end_late(clock: Clock) -> None:
    out_of_time, steps = in_seconds(10.0), iter([1.0, 3.0, 2.0, 1.0, 1.0])
    taken = 0
    while not out_of_time():
        clock.now += next(steps)
        taken += 1
    assert (taken, clock.now) == (4, 107.0), "a step of 3 seconds might follow, and would end at the deadline"


def test_a_first_step_is_begun_while_there_is_any_time(clock: Clock) -> None:
    assert not in_seconds(0.001)()
    assert in_seconds(0.0)()


def test_without_an_end_the_time_is_never_up(clock: Clock) -> None:
    never = Deadline()
    assert not never()
    clock.now += 1e9
    assert [never(), never.past, never.half_way()] == [False, False, False]


def test_a_part_ends_with_the_whole_at_the_latest(clock: Clock) -> None:
    whole = in_seconds(10.0)
    assert whole.no_later_than(4.0).at == 104.0
    assert whole.no_later_than(40.0).at == whole.at
    assert whole.half_way.at == 105.0
    assert Deadline(inf).no_later_than(4.0).at == 104.0
    clock.now += 10.0
    assert whole.past
