from __future__ import annotations

import pytest

from jpo.forecast.reliability import Reliability, by_chance, reliability


def test_reliability_by_hand() -> None:
    found = reliability([(0.9, True), (0.7, False)])
    assert (found.cases, found.claimed, found.came_true) == (2, pytest.approx(0.8), 0.5)
    assert found.brier == pytest.approx((0.1**2 + 0.7**2) / 2)


def test_a_diagram_has_a_point_for_each_part_that_has_claims() -> None:
    assert list(by_chance([(0.1, False), (0.95, True), (1.0, True)])) == [
        Reliability(1, 0.1, 0, pytest.approx(0.01)),
        Reliability(2, 0.975, 1, pytest.approx(0.00125)),
    ]
