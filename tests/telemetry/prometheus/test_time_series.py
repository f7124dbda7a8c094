"""Single samples of the newest runs: which are asked for, and what they become."""

from __future__ import annotations

import pytest

from jpo.records import Identity, Series
from jpo.telemetry.outcome import MeasuredRun, MeasuredValues
from jpo.telemetry.prometheus.time_series import MOST_POINTS, NEWEST_RUNS, completed, loss_slopes, newest, thinned

HOUR = 3600.0


def run(number, hours=1.0):
    end = 1e9 + number * 10 * HOUR
    return measured(f"r{number}", end - hours * HOUR, end)


def measured(run_id, start, end):
    return MeasuredRun(run_id, Identity("digits", "cnn", "pytorch"), {}, start, end, True, frozenset(), MeasuredValues())


def series(quantity, values, step=15.0):
    return Series("r1", quantity, tuple(i * step for i in range(len(values))), tuple(values))


def test_only_the_newest_runs_are_traced():
    chosen = newest([run(i) for i in range(NEWEST_RUNS + 30)])
    assert [one.run_id for one in chosen][:2] == ["r79", "r78"]
    assert len(chosen) == NEWEST_RUNS


def test_runs_of_weeks_are_not_traced():
    assert newest([run(1, hours=24 * 13)]) == []
    assert [one.run_id for one in newest([run(1, hours=24 * 6), run(2, hours=24 * 6)])] == ["r2"]


def test_long_series_are_thinned_to_means():
    short = thinned(series("cpu_cores", [float(i) for i in range(2 * MOST_POINTS)]))
    assert len(short.values) == MOST_POINTS
    assert (short.times[0], short.values[0], short.values[-1]) == (15, 0.5, 2 * MOST_POINTS - 1.5)
    assert thinned(short) == short


def test_percentiles_come_from_every_sample():
    values = completed(MeasuredValues(), [series("cpu_cores", [float(i) for i in range(101)])])
    assert (values.cpu_cores_p95, values.cpu_cores_mean) == (pytest.approx(95), 50)
    assert completed(MeasuredValues(), [series("cpu_cores", [2.0])]).cpu_cores_p95 == 2


def test_means_that_were_measured_stay():
    courses = [series("memory_gib", [1.0, 3.0]), series("gpu_utilisation", [0.2])]
    values = completed(MeasuredValues(memory_mean_bytes=5.0, memory_bytes=7.0, gpu_utilisation=0.4), courses)
    assert (values.memory_mean_bytes, values.memory_bytes, values.gpu_utilisation) == (5, 7, 0.4)
    filled = completed(MeasuredValues(), courses)
    assert (filled.memory_mean_bytes, filled.memory_bytes, filled.gpu_utilisation) == (2 * 2**30, 3 * 2**30, 0.2)


def losses(power, epochs=20, seconds=100.0, scrapes=5):
    """Scrapes of a validation loss that falls with a power of the epochs, and stays until the next validation."""
    at = [
        (epoch * seconds + scrape * seconds / scrapes, epoch**-power) for epoch in range(1, epochs) for scrape in range(scrapes)
    ]
    return [*at, (epochs * seconds, epochs**-power)]


def test_slopes_come_from_each_validation_once(scope_on):
    sampled = [measured(run_id, 0.0, 2000.0) for run_id in ("r1", "r2", "short")]
    rows = [
        ({"run_id": "r1", "instance": "a"}, losses(0.3)),
        ({"run_id": "r1", "instance": "b"}, losses(2.0)[:9]),  # died early
        ({"run_id": "r2"}, [*losses(0.1), (9000.0, 5.0)]),  # a Pushgateway's, after its end
        ({"run_id": "short"}, losses(0.1, epochs=3)),
        ({"run_id": "another"}, losses(0.1)),
    ]
    scope = scope_on({"jpo_val_loss": rows})
    slopes = loss_slopes(scope, sampled)
    assert {run_id: slope for run_id, (slope, _) in slopes.items()} == {"r1": pytest.approx(-0.3), "r2": pytest.approx(-0.1)}
    assert len(scope.client.asked) == 1
