from __future__ import annotations

import math

import pytest

from jpo.records import NAMED_PREFERENCES, Preference, share_interval


def test_preference_says_what_its_weights_sum_to() -> None:
    with pytest.raises(ValueError, match=r"cost and energy both have a weight; .+ usd_per_kwh"):
        Preference(0.0, 0.5, energy=0.5)
    with pytest.raises(ValueError, match=r"weights sum to 1\.1; they must sum to 1"):
        Preference(time=0.7, cost=0.4)


def test_preference_refuses_negative_and_infinite_weights() -> None:
    for time in (-0.5, math.inf, math.nan):
        with pytest.raises(ValueError, match="must be in 0"):
            Preference(time=time, cost=1.5)


def test_named_preferences_put_all_weight_where_their_name_says() -> None:
    assert (NAMED_PREFERENCES["time"].time, NAMED_PREFERENCES["cost"].cost, NAMED_PREFERENCES["efficiency"].efficiency) == (
        1,
        1,
        1,
    )


def test_the_interval_of_a_share_is_wilsons() -> None:
    """8 of 10 at 95%: 0.490 to 0.943, as in Newcombe 1998, table I's method 3."""
    record = share_interval(8, 10, level=0.95)
    assert (record.mean, record.low, record.high) == pytest.approx((0.8, 0.490, 0.943), abs=5e-4)


def test_all_of_few_proves_little() -> None:
    assert share_interval(1, 1).low < 0.3
    assert share_interval(0, 5).low == 0.0
    assert share_interval(200, 200).low > 0.98


@pytest.mark.parametrize(("hits", "of"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_share_is_refused(hits: int, of: int) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        share_interval(hits, of)


@pytest.mark.parametrize("of", range(1, 200))
def test_a_share_is_within_its_own_interval(of: int) -> None:
    for hits in (0, 1, of - 1, of):
        share = share_interval(hits, of)
        assert 0 <= share.low <= share.mean <= share.high <= 1
