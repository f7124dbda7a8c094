from __future__ import annotations

import pytest

from jpo.forecast.track_record import inside, share_interval, track_record
from jpo.records import Forecast, Interval, Outcome, TrackRecord


def test_errors_and_hits_are_counted_by_hand() -> None:
    pairs = [(Interval(100, 90, 110), 105.0), (Interval(100, 90, 110), 120.0), (Interval(10, 5, 20), 9.0)]
    assert track_record("duration_seconds", pairs) == TrackRecord("duration_seconds", 3, pytest.approx(0.1), 2)


def test_what_has_no_ratio_is_not_compared() -> None:
    assert track_record("val_loss", [(Interval(0.0, -1.0, 1.0), 0.5), (Interval(1.0, 0.5, 2.0), 0.0)]) is None
    assert track_record("cost_usd", []) is None


def test_the_interval_of_a_share_is_wilsons() -> None:
    """8 of 10 at 95%: 0.490 to 0.943, as in Newcombe 1998, table I's method 3."""
    record = share_interval(8, 10, level=0.95)
    assert (record.mean, record.low, record.high) == pytest.approx((0.8, 0.490, 0.943), abs=5e-4)


def test_all_of_few_proves_little() -> None:
    assert share_interval(1, 1).low < 0.3
    assert share_interval(0, 5).low == 0.0
    assert share_interval(200, 200).low > 0.98


@pytest.mark.parametrize(("hits", "of"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_share_is_refused(hits: int, of: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        share_interval(hits, of)


def test_an_outcome_is_held_against_its_forecast_where_both_are_known() -> None:
    expected = Forecast(duration_seconds=Interval(100, 90, 110), val_loss=Interval(0.2, 0.1, 0.3), cost_usd=Interval(1, 1, 1))
    assert inside(expected, Outcome(duration_seconds=110.0, val_loss=0.31)) == {"duration_seconds": True, "val_loss": False}
