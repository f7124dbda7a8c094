import math

import numpy as np
import pytest

from jpo.agent.context import UNKNOWN, Context, watched
from jpo.agent.horizon import UNTOLD
from jpo.records import Identity, Outcome, Run, RunStatus


def a_run(seconds, status=RunStatus.SUCCEEDED):
    return Run("r", Identity("d", "m", "f"), {}, status, None, 1.0, Outcome(duration_seconds=seconds), "told")


def test_age_and_change_are_those_of_the_last_run_at_each_candidate(belief):
    believed = belief([[0.0, math.log(2), 0.0]], runs=(2, 1, 0), failures=(0, 0, 1), duration=100.0)
    runs = [a_run(90.0), a_run(200.0), a_run(110.0), a_run(7.0, RunStatus.FAILED)]
    told = watched(UNKNOWN, believed, [0, 1, 0, 2], runs)
    assert told.watch.age.tolist() == [1, 2, 0]
    assert told.watch.moved[:2] == pytest.approx([math.log(1.1), 0.0])
    assert np.isnan(told.watch.moved[2])


def test_the_horizon_is_that_of_the_runs_to_come():
    assert Context(runs_done=30).horizon == UNTOLD
    assert Context(runs_done=5, runs_left=0).horizon == 0
