"""The limit of one parameter."""

import math

import pytest

from constraints.limit import Limit


@pytest.mark.parametrize(
    ("limit", "now", "reach"),
    [
        (Limit(), 8, (-math.inf, math.inf)),
        (Limit(max_change=4), 8, (2, 32)),
        (Limit(max_change=4), 0, (0, 4)),
        (Limit(low=1, high=4096, max_change=4), 100_000, (4096, 400_000)),
        (Limit(low=64, max_change=2), 1, (0.5, 64)),
        (Limit(choices=(8, 16), max_change=2), 1, (0.5, 8)),
    ],
)
def test_one_step_reaches_a_factor_or_back_into_the_limits(limit, now, reach):
    assert limit.reach(now) == reach
