from __future__ import annotations

import pytest

from jpo.agent.safety.queue_waits import QueueWaits
from jpo.cost import Prices
from jpo.optimizer.prediction import Expected, Row
from jpo.optimizer.what_if import FEWEST, Bounds, faster_than, option_of
from jpo.records import Forecast, Interval


def row(gpus: float, seconds: float, usd: float) -> Row:
    forecast = Forecast(Interval(seconds, seconds, seconds), Interval(usd, usd, usd))
    return Row({"gpus": gpus}, {"gpus": gpus}, None, Expected("history", "the history", forecast))


def test_only_what_is_faster_than_all_that_costs_less_is_an_option() -> None:
    best = row(1, 3600, 1)
    rows = [best, row(2, 1800, 2), row(4, 2000, 3), row(8, 900, 9)]
    assert [faster.parameters["gpus"] for faster, _ in faster_than(best, rows, Prices(), Bounds(None, None))] == [2, 8]


def test_there_are_few_options_the_cheapest_first() -> None:
    rows = [row(2.0**step, 3600 / 2.0**step, 1 + step) for step in range(8)]
    options = faster_than(rows[0], rows, Prices(), Bounds(None, None))
    assert [faster.parameters["gpus"] for faster, _ in options] == [2, 4, 8]
    assert len(options) == FEWEST


def test_an_option_says_what_a_saved_hour_costs() -> None:
    ((_, comparison),) = faster_than(row(1, 7200, 1), [row(2, 3600, 4)], Prices(), Bounds(None, None))
    option = option_of(1, comparison)
    assert (option.row, option.seconds_saved) == (1, 3600)
    assert (option.usd_more, option.usd_per_saved_hour) == (pytest.approx(3), pytest.approx(3))


def test_what_waits_longer_than_it_saves_is_no_option() -> None:
    """Four GPUs save forty minutes and wait for an hour; two save half an hour, and wait for ten minutes of it."""
    rows = [row(1, 3600, 1), row(2, 1800, 2), row(4, 1200, 3)]
    bounds = Bounds(9000.0, None, queue=QueueWaits("gpus", {1.0: 0.0, 2.0: 600.0, 4.0: 3600.0}))
    ((two, comparison),) = faster_than(rows[0], rows, Prices(), bounds)
    assert two.parameters["gpus"] == 2
    assert option_of(1, comparison).seconds_saved == 1200
