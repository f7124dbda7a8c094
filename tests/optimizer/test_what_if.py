import math

import pytest
from prediction_rows import UNKNOWN, a_row

from jpo.optimizer.what_if import Bounds


def test_bounds_are_kept_by_the_expected_value_and_say_how_likely():
    assert Bounds(3600.0, None).kept(a_row())
    assert not Bounds(3599.0, None).kept(a_row())
    assert Bounds(3600.0, None).probability(a_row()) == pytest.approx(0.5)
    assert Bounds(7200.0, None).probability(a_row()) == pytest.approx(0.95)
    assert not Bounds(None, 1.0).kept(a_row(usd=None))


def test_a_deadline_wants_the_cheapest_and_a_budget_the_fastest():
    cheap, fast = a_row(3600.0, 1.0), a_row(1800.0, 3.0)
    assert min((fast, cheap), key=Bounds(7200.0, None).order) is cheap
    assert min((fast, cheap), key=Bounds(None, 9.0).order) is fast
    assert min((fast, cheap), key=Bounds(7200.0, 9.0).order) is cheap


def test_unknown_and_free_are_distinguished():
    assert Bounds(60.0, None).miss(UNKNOWN) == math.inf
    assert "is unknown" in Bounds(60.0, None).words(UNKNOWN, met=False)
    assert "The fastest" in Bounds(None, 1.0).words(a_row(usd=0.0), met=True)
    assert "Prices are unknown" in Bounds(7200.0, None).words(a_row(usd=None), met=True)
