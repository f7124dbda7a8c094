from __future__ import annotations

import pytest

from jpo.forecast.track_record import inside, track_record
from jpo.records import Forecast, Interval, Outcome, TrackRecord


def test_errors_and_hits_are_counted_by_hand() -> None:
    pairs = [(Interval(100, 90, 110), 105.0), (Interval(100, 90, 110), 120.0), (Interval(10, 5, 20), 9.0)]
    assert track_record("duration_seconds", pairs) == TrackRecord("duration_seconds", 3, pytest.approx(0.1), 2)


def test_what_has_no_ratio_is_not_compared() -> None:
    assert track_record("val_loss", [(Interval(0.0, -1.0, 1.0), 0.5), (Interval(1.0, 0.5, 2.0), 0.0)]) is None
    assert track_record("cost_usd", []) is None


def test_an_outcome_is_held_against_its_forecast_where_both_are_known() -> None:
    expected = Forecast(duration_seconds=Interval(100, 90, 110), val_loss=Interval(0.2, 0.1, 0.3), cost_usd=Interval(1, 1, 1))
    assert inside(expected, Outcome(duration_seconds=110.0, val_loss=0.31)) == {"duration_seconds": True, "val_loss": False}
