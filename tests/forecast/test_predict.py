from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.forecast.predict import predict
from jpo.records import Belief, Calibration

LN2 = math.log(2)
ZERO = np.zeros((2, 2))
BELIEF = Belief(
    weights=np.array([0.25, 0.75]),
    log_time=np.array([[0.0, -LN2], [0.0, LN2]]),
    log_cost=ZERO,
    log_loss=ZERO,
    log_utilisation=ZERO,
    fails=np.zeros((2, 2), dtype=np.bool_),
    p_fail=np.zeros(2),
    runs=np.array([4, 0]),
    failures=np.zeros(2, dtype=np.int64),
    stopped=np.zeros(2, dtype=np.int64),
    noise=0.0,
    duration_seconds=100.0,
    val_loss=None,
    effective_share=0.5,
    knows_utilisation=True,
)


def test_no_number_without_evidence() -> None:
    nothing = predict(replace(BELIEF, duration_seconds=None), 1, usd_per_hour=2.0)
    assert (nothing.duration_seconds, nothing.cost_usd, nothing.val_loss) == (None, None, None)
    assert predict(BELIEF, 1, usd_per_hour=None).cost_usd is None


def test_an_interval_holds_both_particles_and_is_widened_by_a_fifth_around_its_median() -> None:
    duration = predict(BELIEF, 1, usd_per_hour=None).duration_seconds
    assert duration is not None
    assert duration.mean == pytest.approx(100 * 2**0.5)  # ln: .25 * -ln 2 + .75 * ln 2
    # The row was not run: each particle stands for nine points with the sd 1.5 * 0.12 of what no job explains.
    low, middle, high = -LN2 - 0.967 * 0.18, LN2 - 0.589 * 0.18, LN2 + 1.593 * 0.18
    assert math.log(duration.high / 100) == pytest.approx(middle + 1.2 * (high - middle), abs=1e-3)
    assert math.log(duration.low / 100) == pytest.approx(middle + 1.2 * (low - middle), abs=1e-3)


def test_what_was_run_has_no_unknown_discrepancy() -> None:
    here, there = (predict(replace(BELIEF, log_time=0 * BELIEF.log_time), row, usd_per_hour=None) for row in (0, 1))
    assert here.duration_seconds is not None
    assert there.duration_seconds is not None
    assert (here.duration_seconds.low, here.duration_seconds.high) == (100, 100)
    assert there.duration_seconds.high == pytest.approx(100 * math.exp(1.2 * 1.593 * 0.18), rel=1e-3)


def test_noise_of_one_run_and_of_what_is_known_adds_up() -> None:
    duration = predict(replace(BELIEF, noise=0.1), 0, usd_per_hour=None).duration_seconds
    assert duration is not None
    spread = 1.2 * 0.1 * math.sqrt(1 + 1 / 4)
    assert math.log(duration.high / 100) == pytest.approx(1.593 * spread, rel=0.01)  # the outermost of nine nodes
    assert math.log(duration.low / 100) == pytest.approx(-1.593 * spread, rel=0.01)


def test_today_is_uncertain_when_only_others_have_been_run() -> None:
    duration = predict(replace(BELIEF, runs=np.array([0, 4])), 0, usd_per_hour=None).duration_seconds
    assert duration is not None
    assert duration.high / duration.low > 3


def test_cost_is_the_duration_times_the_price() -> None:
    forecast = predict(BELIEF, 1, usd_per_hour=36.0)
    assert forecast.cost_usd is not None
    assert forecast.duration_seconds is not None
    assert forecast.cost_usd.high == pytest.approx(forecast.duration_seconds.high * 0.01)


def test_loss_is_forecast_once_measured() -> None:
    loss = predict(replace(BELIEF, val_loss=0.4), 1, usd_per_hour=None).val_loss
    assert loss is not None
    assert loss.low < 0.4 < loss.high
    assert loss.mean == pytest.approx(0.4)


def test_a_loss_that_varies_much_between_equal_runs_has_a_wide_interval() -> None:
    quiet, loud = (
        predict(replace(BELIEF, runs=np.array([4, 4]), val_loss=0.4, loss_noise=noise), 1, usd_per_hour=None).val_loss
        for noise in (0.03, 0.3)
    )
    assert quiet is not None
    assert loud is not None
    assert math.log(loud.high / loud.low) > 0.9 > 2 * math.log(quiet.high / quiet.low)


def test_a_run_that_measured_no_loss_does_not_tell_the_loss_there() -> None:
    belief = replace(BELIEF, runs=np.array([4, 4]), val_loss=0.4)
    unspecified, unmeasured = (
        predict(replace(belief, loss_runs=runs), 1, usd_per_hour=None) for runs in (None, np.array([4, 0]))
    )
    assert unspecified.val_loss is not None
    assert unmeasured.val_loss is not None
    assert unmeasured.val_loss.high > 1.3 * unspecified.val_loss.high
    assert unmeasured.duration_seconds == unspecified.duration_seconds


def test_intervals_widen_when_no_simulated_job_fits() -> None:
    fits, odd = (predict(replace(BELIEF, effective_share=share), 1, usd_per_hour=None).duration_seconds for share in (0.5, 0.001))
    assert fits is not None
    assert odd is not None
    assert odd.low < fits.low


def test_the_calibration_watch_widens_around_the_middle() -> None:
    belief = replace(BELIEF, noise=0.1, val_loss=0.4)
    stated, widened = (
        predict(belief, 0, Calibration(interval_factor, interval_factor**2), usd_per_hour=1.0) for interval_factor in (1.0, 2.0)
    )
    for name, factor in (("duration_seconds", 2), ("cost_usd", 2), ("val_loss", 4)):
        before, after = getattr(stated, name), getattr(widened, name)
        assert math.log(after.high / after.low) == pytest.approx(factor * math.log(before.high / before.low))
        assert after.high * after.low == pytest.approx(before.high * before.low)
        assert after.mean == before.mean
