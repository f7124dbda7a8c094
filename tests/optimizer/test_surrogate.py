from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.cost import Prices, run_cost_usd
from jpo.optimizer.advise import advise
from jpo.optimizer.request import Request
from jpo.optimizer.sla import memory_vetoes
from jpo.optimizer.surrogate import Surrogate, surrogate_of, with_configuration
from jpo.records import Forecast, Identity, Known, Outcome, Parameters, Preference, Run, RunStatus, texts_of
from tests.asked import a_request, changed

NOW = {"batch_size": 32.0, "gpus": 1.0}
MEASURED = {
    "duration_seconds": 3600.0,
    "val_loss": 0.5,
    "throughput_samples_per_second": 90.0,
    "memory_gib": 6.0,
    "gpu_utilisation": 0.7,
    "cpu_utilisation": 0.3,
}


def request(prices: Prices | None = None, current: Parameters = NOW) -> Request:
    return a_request(
        current, {"batch_size", "gpus"}, lambda _now, _then: True, Preference(), prices or Prices(usd_per_gpu_hour=2.0)
    )


def a_run(at: int, **measured: float) -> Run:
    return Run(str(at), Identity("d", "m", "f"), NOW, RunStatus.SUCCEEDED, None, float(at), Outcome(**measured), "csv")


def surrogate(*runs: Run, prices: Prices | None = None) -> Surrogate:
    return surrogate_of(request(prices), Known(tuple(runs)), seed=0)


def test_every_quantity_is_expected_near_what_was_measured_and_as_the_forecast_says() -> None:
    outlook = surrogate(*(a_run(at, **MEASURED) for at in range(3)))
    now = outlook.candidates.current
    for quantity, came in (MEASURED | {"cost_usd": 2.0}).items():
        expected = outlook.expected(quantity)
        assert expected is not None
        assert expected[now] == pytest.approx(came, rel=0.02)
        for row in (now, 0, len(expected) - 1):
            interval = getattr(outlook.forecast(row), quantity)
            assert interval.mean == pytest.approx(expected[row])
            assert interval.low <= interval.mean <= interval.high


@pytest.mark.parametrize("asked_for", [False, True])
def test_a_larger_batch_is_likelier_to_fail_where_the_memory_it_needs_is_not_there(asked_for: bool) -> None:
    """By [quota], or by what config.ini asks for; before anything was killed. What has run is believed."""
    now = {**NOW, **({"memory_gib": 6.3} if asked_for else {})}
    runs = [replace(a_run(at, **MEASURED), parameters=now) for at in range(3)]
    wide = surrogate(*runs)
    tight = surrogate_of(
        changed(request(current=now), free={"batch_size"}, room_gib=math.inf if asked_for else 6.3), Known(tuple(runs)), seed=0
    )
    twice, today = tight.row({**now, "batch_size": 64.0}), tight.candidates.current
    assert tight.p_short_of_memory[twice] > 0.5
    assert tight.belief.p_fail[twice] > wide.belief.p_fail[wide.row({**NOW, "batch_size": 64.0})] + 0.3
    assert "that host memory runs out" in tight.failure_chance(twice).basis
    assert tight.belief.p_fail[today] < 0.15
    (held,) = memory_vetoes(tight)
    assert (held.rows[[twice, today]].tolist(), held.code) == ([True, False], "JPO-I648")
    assert memory_vetoes(surrogate(*runs)) == ()


def test_a_configuration_that_is_added_is_judged_by_the_same_room() -> None:
    tight = surrogate_of(changed(request(), room_gib=6.3), Known((a_run(0, **MEASURED),)), seed=0)
    more = with_configuration(tight, {"batch_size": 384.0, "gpus": 1.0}, Known(()), seed=0)
    assert more.belief.p_fail[more.row({"batch_size": 384.0, "gpus": 1.0})] > 0.5


def test_nothing_is_expected_where_nothing_is_known() -> None:
    outlook = surrogate(a_run(0, duration_seconds=60.0), prices=Prices())
    assert outlook.expected("duration_seconds") is not None
    for quantity in ("cost_usd", "val_loss", "throughput_samples_per_second", "memory_gib"):
        assert outlook.expected(quantity) is None
    assert surrogate().forecast(0) == Forecast()


def test_a_row_without_a_price_costs_an_unknown_amount() -> None:
    now, asked = {"gpus": 0.0, "cpus": 4.0}, {"gpus": 1.0, "cpus": 4.0}
    run = Run("0", Identity("d", "m", "f"), now, RunStatus.SUCCEEDED, None, 0.0, Outcome(duration_seconds=3600.0), "csv")
    outlook = surrogate_of(request(Prices(usd_per_cpu_hour=0.1), now), Known((run,)), seed=0, asked=[asked])
    expected = outlook.expected("cost_usd")
    assert expected is not None
    assert expected[outlook.row(now)] == pytest.approx(0.4)
    assert np.isnan(expected[outlook.row(asked)])


def test_losses_outside_their_forecasts_widen_their_intervals_alone_and_the_report_says_so() -> None:
    runs = [a_run(at, duration_seconds=3600.0, val_loss=0.5 * math.exp(0.05 * 1.7**at)) for at in range(12)]  # each further off
    outlook = surrogate(*runs)
    assert (outlook.calibration.interval_factor, outlook.calibration.loss_interval_factor > 1.5) == (1.0, True)
    decision = advise(request(), Known(tuple(runs)), None, seed=0).decision
    assert ("JPO-W816" in decision.codes, "JPO-W616" in decision.codes) == (True, False)
    sentence = "too few of the last validation losses were within their intervals"
    assert any(reason.startswith(sentence) for reason in texts_of(decision.reasons))


def test_a_forecast_holds_the_energy_that_runs_measured_like_their_cost_does() -> None:
    prices = Prices(usd_per_gpu_hour=2.0, usd_per_kwh=0.5)
    runs = [a_run(at, duration_seconds=3600.0, energy_joules=3.6e6) for at in range(3)]  # 1 kW
    outlook = surrogate_of(request(prices), Known(tuple(runs)), seed=0, asked=[{**NOW, "gpus": 4.0}])
    now, four = outlook.candidates.current, outlook.row({**NOW, "gpus": 4.0})
    assert [outlook.usd_per_hour(row) for row in (now, four)] == pytest.approx([run_cost_usd(runs[0], prices), 8.0 + 2.0])
    cost, expected = outlook.forecast(now).cost_usd, outlook.expected("cost_usd")
    assert cost is not None and expected is not None  # noqa: PT018
    assert (cost.mean, expected[now]) == (pytest.approx(2.5, rel=0.02), pytest.approx(cost.mean))
    assert outlook.usd_per_hour(now, Prices(usd_per_gpu_hour=1.0)) == 1.0


def test_energy_is_forecast_as_time_at_the_power_that_runs_had() -> None:
    runs = [a_run(at, duration_seconds=3600.0, energy_joules=3.6e6) for at in range(3)]  # 1 kW
    outlook = surrogate(*runs)
    forecast = outlook.forecast(now := outlook.candidates.current)
    assert forecast.energy_joules is not None
    assert forecast.duration_seconds is not None
    assert forecast.energy_joules.high == pytest.approx(1000 * forecast.duration_seconds.high)
    expected = outlook.expected("energy_joules")
    assert expected is not None
    assert expected[now] == pytest.approx(forecast.energy_joules.mean)
    assert outlook.knows(Preference(1, 0))
    assert not outlook.knows(Preference(0, 0, energy=1.0)), "what is believed of its cost is money"


@pytest.mark.parametrize("joules", [None, 1e308])
def test_energy_that_nobody_knows_is_left_out_of_a_forecast(joules: float | None) -> None:
    runs = [a_run(at, duration_seconds=3600.0, **({} if joules is None else {"energy_joules": joules})) for at in range(3)]
    outlook = surrogate(*runs, prices=Prices(usd_per_gpu_hour=2.0, usd_per_kwh=0.5))
    assert outlook.usd_per_hour(outlook.candidates.current) == 2.0


def test_time_and_throughput_of_equally_long_runs_tell_one_story() -> None:
    outlook = surrogate(*(a_run(at, duration_seconds=3600.0, throughput_samples_per_second=90.0) for at in range(2)))
    samples = 3600.0 * 90.0
    assert outlook.samples is not None
    assert set(outlook.samples) == {samples}
    for row in range(len(outlook.candidates.values)):
        told = outlook.forecast(row)
        assert told.duration_seconds
        assert told.throughput_samples_per_second
        assert told.duration_seconds.mean * told.throughput_samples_per_second.mean == pytest.approx(samples)
        assert told.duration_seconds.high * told.throughput_samples_per_second.low == pytest.approx(samples)


def test_runs_of_different_lengths_leave_throughput_its_own_forecast() -> None:
    lengths = (3600.0, 7200.0)
    runs = (a_run(at, duration_seconds=time, throughput_samples_per_second=90.0) for at, time in enumerate(lengths))
    assert surrogate(*runs).samples is None
