import math

import numpy as np
import pytest

from jpo.agent.change_detection import Chart, forecast_error
from jpo.records import Identity, Outcome, Run, RunStatus


def after(*misses):
    chart = Chart()
    for miss in misses:
        chart = chart.after(miss)
    return chart


def a_run(seconds, status=RunStatus.SUCCEEDED):
    return Run("r", Identity("d", "m", "f"), {}, status, None, 1.0, Outcome(duration_seconds=seconds), "told")


def test_the_sums_are_those_of_page():
    assert after(1.0, 2.0, -0.5) == Chart(above=1.0, below=0.0)
    assert after(-1.0, -1.0) == Chart(above=0.0, below=1.0)


def test_misses_to_one_side_raise_the_alarm_and_misses_to_both_do_not():
    assert after(*[2.0] * 4).alarm
    assert after(*[-2.0] * 4).alarm
    assert not after(*[2.0, -2.0] * 20).alarm


def test_one_outlier_of_any_size_raises_no_alarm():
    assert not after(1000.0).alarm
    assert after(1000.0, None, math.nan) == after(3.0)


def test_equal_runs_of_a_world_that_stays_raise_few_false_alarms():
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(100):
        chart = Chart()
        for miss in rng.normal(size=40):
            chart = chart.after(miss)
            alarms += chart.alarm
            chart = Chart() if chart.alarm else chart
    assert alarms < 20, "one in some 465 runs is usual"


def test_the_error_is_standardised_and_that_of_a_known_configuration(belief):
    believed = belief([[0.0, 0.3, 0.0]], runs=(4, 0, 0), duration=100.0, noise=0.1)
    assert forecast_error(believed, 0, a_run(100 * math.exp(0.2))) == pytest.approx(2.0)
    assert forecast_error(believed, 1, a_run(100.0)) is None, "had not run before"
    assert forecast_error(believed, 0, a_run(100.0, RunStatus.FAILED)) is None
