from __future__ import annotations

from dataclasses import replace

import pytest
from fronts import FRONT, TODAY

from jpo.optimizer.pareto.front import Volumes, difference, gain, measured_volume
from jpo.records import Currency


@pytest.mark.parametrize(
    ("values", "expected"), [({"batch_size": 64.0, "gpus": 2.0}, "batch 64, gpus 2"), (dict(TODAY), "as today")]
)
def test_a_difference_is_said_in_short(values: dict[str, float], expected: str) -> None:
    assert difference(values, TODAY) == expected


@pytest.mark.parametrize(
    ("volume", "measured", "expected"),
    [
        (2.0, 2.0, "nothing"),
        (2.0, 0.0, "all of it"),
        (2.001, 2.0, "less than 0.1%"),
        (2.05, 2.0, "2.5%"),
        (4.88, 2.0, "144%"),
    ],
)
def test_a_gain_is_given_in_per_cent_of_what_was_there(volume: float, measured: float, expected: str) -> None:
    assert gain(volume, measured) == expected


def test_a_volume_has_the_units_of_its_axes() -> None:
    volumes = Volumes({"duration_seconds": 15840.0, "cost_usd": 9.9}, 8640 * 1.9, 40000.0, 8640 * 1.9)
    assert measured_volume(FRONT, volumes) == "4.56 h × USD"
    assert measured_volume(replace(FRONT, currency=Currency("EUR", 0.5)), volumes) == "2.28 h × EUR"
