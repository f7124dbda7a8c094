from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from jpo.forecast.calibration import FEWEST, WATCHED, WIDEST, inside, interval_factor, one_step_forecasts, track_record
from jpo.records import Belief, Candidates, Forecast, Identity, Interval, Outcome, Run, RunStatus, TrackRecord

FORECAST = Interval(100.0, 50.0, 200.0)  # the half-width is a doubling
INSIDE, OUTSIDE = (FORECAST, 120.0), (FORECAST, 100 * 2**1.5)


def test_enough_outcomes_inside_leave_the_intervals_as_they_are() -> None:
    assert interval_factor([INSIDE] * 16 + [OUTSIDE] * 4) == 1.0


def test_too_few_inside_widen_to_what_would_have_held_nine_of_ten() -> None:
    assert interval_factor([INSIDE] * 15 + [OUTSIDE] * 5) == pytest.approx(1.5)


def test_too_short_a_record_says_nothing() -> None:
    assert interval_factor([OUTSIDE] * (FEWEST - 1)) == 1.0
    assert interval_factor([OUTSIDE] * FEWEST) == pytest.approx(1.5)
    assert interval_factor([]) == 1.0


def test_one_absurd_outcome_cannot_widen_beyond_the_limit() -> None:
    assert interval_factor([(FORECAST, 1e9)] * 5) == WIDEST
    assert interval_factor([(Interval(100.0, 100.0, 100.0), 101.0)] * 5) == WIDEST


def test_misses_below_count_like_misses_above() -> None:
    assert interval_factor([(FORECAST, 100 / 2**1.5)] * 5) == pytest.approx(1.5)


CANDIDATES = Candidates(("batch_size",), np.array([[8.0], [16.0]]), 0, np.ones(2, dtype=np.bool_), np.zeros(2))


def a_run(
    at: int,
    seconds: float | None,
    *,
    loss: float | None = None,
    batch_size: float = 8.0,
    status: RunStatus = RunStatus.SUCCEEDED,
) -> Run:
    outcome = Outcome(duration_seconds=seconds, val_loss=loss)
    return Run(str(at), Identity("d", "m", "f"), {"batch_size": batch_size}, status, None, float(at), outcome, "observe")


def believe(runs: Sequence[Run]) -> Belief:
    """As many seconds as runs are known, and twice the loss."""
    zero, no = np.zeros((1, 2)), np.zeros((1, 2), dtype=np.bool_)
    count, none = np.array([len(runs), 0]), np.zeros(2, dtype=np.int64)
    seconds = float(len(runs)) or None
    loss = 2 * seconds if seconds else None
    return Belief(np.ones(1), zero, zero, zero, zero, no, np.zeros(2), count, none, none, 0.1, seconds, loss, 0.5, False)


def forecasts_and_outcomes(runs: Sequence[Run], quantity: str = "duration_seconds") -> list[tuple[float, float]]:
    return [(round(forecast.mean, 9), came) for forecast, came in one_step_forecasts(believe, CANDIDATES, runs)[quantity]]


def test_each_run_is_paired_with_its_forecast_from_those_before_it() -> None:
    assert forecasts_and_outcomes([a_run(2, 30.0), a_run(0, 10.0), a_run(1, 20.0)]) == [(1.0, 20.0), (2.0, 30.0)]


def test_losses_are_watched_as_well_as_durations_where_they_were_measured() -> None:
    runs = [a_run(0, 10.0), a_run(1, 20.0, loss=0.5), a_run(2, None, loss=0.7), a_run(3, 9.0, loss=-1.0)]
    assert forecasts_and_outcomes(runs, "val_loss") == [(2.0, 0.5), (4.0, 0.7)]
    assert forecasts_and_outcomes(runs) == [(1.0, 20.0), (3.0, 9.0)]


def test_runs_that_say_nothing_are_left_out() -> None:
    failed, unmeasured, elsewhere = a_run(1, 9.0, status=RunStatus.FAILED), a_run(2, None), a_run(3, 9.0, batch_size=7.0)
    assert forecasts_and_outcomes([a_run(0, 10.0), failed, unmeasured, elsewhere]) == []


def test_only_the_last_runs_are_watched() -> None:
    runs = [a_run(at, 10.0) for at in range(50)]
    assert len(forecasts_and_outcomes(runs)) == WATCHED
    assert one_step_forecasts(believe, CANDIDATES, runs, last=1)["duration_seconds"][0][0].mean == pytest.approx(49.0)


def test_errors_and_hits_are_counted_by_hand() -> None:
    pairs = [(Interval(100, 90, 110), 105.0), (Interval(100, 90, 110), 120.0), (Interval(10, 5, 20), 9.0)]
    assert track_record("duration_seconds", pairs) == TrackRecord("duration_seconds", 3, pytest.approx(0.1), 2)


def test_what_has_no_ratio_is_not_compared() -> None:
    assert track_record("val_loss", [(Interval(0.0, -1.0, 1.0), 0.5), (Interval(1.0, 0.5, 2.0), 0.0)]) is None
    assert track_record("cost_usd", []) is None


def test_an_outcome_is_held_against_its_forecast_where_both_are_known() -> None:
    expected = Forecast(duration_seconds=Interval(100, 90, 110), val_loss=Interval(0.2, 0.1, 0.3), cost_usd=Interval(1, 1, 1))
    assert inside(expected, Outcome(duration_seconds=110.0, val_loss=0.31)) == {"duration_seconds": True, "val_loss": False}
