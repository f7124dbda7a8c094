"""How the rows of a log went."""

from __future__ import annotations

import math

import pytest

from jpo.telemetry.csv.trends import Trends


def trends_of(losses: list[float]) -> Trends:
    trends = Trends()
    for line, loss in enumerate(losses, start=8):
        trends.take({"time": 10.0 * line, "val_loss": loss}, line)
    return trends


@pytest.mark.parametrize(
    ("losses", "rises"),
    [
        ([0.5, 0.6, 0.7, 0.8], True),
        ([50.0, 60.0, 70.0, 80.0], True),
        ([0.5, 0.6, 0.7], False),
        ([0.5, 0.4, 0.7, 0.8], False),
        ([0.5, 0.6, 0.7, 180.0], False),
    ],
)
def test_a_loss_that_rises_to_one_looks_like_an_accuracy(losses: list[float], rises: bool) -> None:
    assert trends_of(losses).looks_like_accuracy("val_loss") is rises


def test_losses_that_are_no_numbers_are_counted_and_left_out() -> None:
    trends = trends_of([0.9, math.nan, 0.7])
    assert (trends.nans, trends.nan_line, trends.last["val_loss"]) == (1, 9, 0.7)
