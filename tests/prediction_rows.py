"""Rows of a prediction for tests: one that is expected from history, and one of which nothing is known."""

from __future__ import annotations

from dataclasses import replace

from jpo.optimizer.prediction import Expected, Row
from jpo.records import Forecast, Interval


def a_row(seconds=3600.0, usd=2.0, **changes):
    money = None if usd is None else Interval(usd, usd / 2, usd * 2)
    forecast = Forecast(Interval(seconds, seconds / 2, seconds * 2), money)
    row = Row({"batch_size": 64.0}, {}, None, Expected("history", "the history: 3 finished runs", forecast), runs=3)
    return replace(row, **changes)


UNKNOWN = Row({"batch_size": 64.0}, {}, None, Expected("unknown", "nothing", Forecast()))
