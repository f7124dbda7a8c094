import math

import numpy as np
import pytest

from jpo.agent.acquisition import HORIZON_RUNS, acquisition_values
from jpo.agent.context import UNKNOWN, watched, within_horizon
from jpo.records import Identity, Outcome, Preference, Run, RunStatus

TIME = Preference(1, 0, 0)


def a_run(seconds, status=RunStatus.SUCCEEDED):
    return Run("r", Identity("d", "m", "f"), {}, status, None, 1.0, Outcome(duration_seconds=seconds), "told")


def test_age_and_change_are_those_of_the_last_run_at_each_candidate(belief):
    believed = belief([[0.0, math.log(2), 0.0]], runs=(2, 1, 0), failures=(0, 0, 1), duration=100.0)
    runs = [a_run(90.0), a_run(200.0), a_run(110.0), a_run(7.0, RunStatus.FAILED)]
    told = watched(UNKNOWN, believed, [0, 1, 0, 2], runs)
    assert told.age.tolist() == [1, 2, 0]
    assert told.moved[:2] == pytest.approx([math.log(1.1), 0.0])
    assert np.isnan(told.moved[2])


def test_a_gain_serves_no_more_runs_than_follow(grid, belief):
    promise = acquisition_values(belief([[0, -1, 0], [0, 1, 0]]), grid(), TIME)
    gain = np.maximum(promise.improvement, promise.knowledge)
    assert gain[1] > 0
    assert within_horizon(promise, 2).score == pytest.approx(promise.score + (HORIZON_RUNS - 2) * gain)
    assert within_horizon(promise, 0).score == pytest.approx(promise.score + HORIZON_RUNS * gain)
    assert within_horizon(promise, HORIZON_RUNS) is within_horizon(promise, None) is promise
