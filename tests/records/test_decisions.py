from __future__ import annotations

import math

import pytest

from jpo.records import NAMED_PREFERENCES, Preference


def test_preference_says_what_its_weights_sum_to() -> None:
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
