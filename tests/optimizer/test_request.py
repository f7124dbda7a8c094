from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from jpo.cost import Prices
from jpo.optimizer.candidates import collect
from tests.optimizer.test_advise import NOW, request


def test_a_request_that_says_no_more_than_it_must_has_no_prices_targets_or_values_by_hand() -> None:
    asked = request()
    assert (asked.prices, asked.wanted.targets, asked.allowed.chosen, asked.currency.code) == (Prices(), {}, {}, "USD")
    assert (asked.boldness.explore, asked.boldness.confidence) == ("safe", 0.9)
    with pytest.raises(FrozenInstanceError):
        asked.boldness.explore = "on"  # type: ignore[misc]


def test_what_the_request_allows_is_what_is_collected() -> None:
    asked = request(free=("batch_size",), choices={"batch_size": [8, 32]}, admissible=lambda _now, there: there["batch_size"] > 8)
    candidates = collect(asked, [])
    assert sorted(candidates.values[candidates.admissible, 0]) == [16, 32]
    assert {candidates.parameters(row)["cpus"] for row in range(len(candidates.values))} == {NOW["cpus"]}
