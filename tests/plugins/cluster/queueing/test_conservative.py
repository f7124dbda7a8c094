"""The profile of free processors by hand."""

from __future__ import annotations

from jpo.plugins.cluster.queueing.conservative import Profile


def test_a_reservation_goes_into_the_first_gap_that_is_long_enough() -> None:
    profile = Profile(0.0, 2, [(10.0, 2)])  # 2 of 4 free, all from 10
    assert profile.reserve(4, 5.0, 0.0) == 10
    assert profile.reserve(2, 11.0, 0.0) == 15
    assert profile.reserve(2, 10.0, 0.0) == 0


def test_what_overran_is_free_just_after_now_not_now() -> None:
    profile = Profile(100.0, 1, [(40.0, 3)])
    assert profile.reserve(1, 5.0, 100.0) == 100
    assert 100 < profile.reserve(3, 5.0, 100.0) < 100.001
