"""Enough host memory is enough."""

import numpy as np

from jpo.agent.safety.host_memory import memory_need_gib, with_enough_memory
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

NAMES = ("batch_size", "memory_gib")
ROWS = Candidates(NAMES, np.array([[32, 60], [32, 30], [32, 4], [64, 60.0]]), 0, np.ones(4, bool), np.array([0, 0, -0.2, 0]))


def a_run(at=0, batch=32.0, memory=60.0, peak=None, status=RunStatus.SUCCEEDED):
    outcome = Outcome(duration_seconds=100.0, memory_gib=peak)
    return Run(str(at), Identity("d", "m", "f"), {"batch_size": batch, "memory_gib": memory}, status, None, at, outcome, "csv")


def test_the_need_is_the_highest_peak_of_runs_that_came_to_their_end_with_headroom():
    killed = a_run(2, peak=60.0, status=RunStatus.OOM_KILLED)
    assert memory_need_gib([a_run(peak=10.0), a_run(1, peak=8.0), killed]) == 11.5
    assert memory_need_gib([a_run()]) is None


def test_rows_with_enough_of_it_are_one_and_the_same(belief):
    seen = []

    def believe(runs):
        seen.extend(runs)
        return belief([[0, 0.3, 0.4, -0.5]], runs=(2, 0, 0, 0), failures=(0, 0, 0, 0), p_fail=(0, 0.3, 0.6, 0))

    one = with_enough_memory(believe, ROWS, [a_run(peak=10.0), a_run(1, memory=30.0, peak=10.0)])
    assert [run.parameters["memory_gib"] for run in seen] == [60, 60]
    assert one.log_time.tolist() == [[0, 0, 0.4, -0.5]]
    assert one.log_cost.round(9).tolist() == [[0, 0, 0.4, -0.5]]
    assert (one.runs.tolist(), one.p_fail.tolist()) == ([2, 2, 0, 0], [0, 0, 0.6, 0])


def test_without_a_measured_peak_nothing_is_said(belief):
    believed = belief([[0, 0.3, 0.4, -0.5]], runs=(1, 0, 0, 0), failures=(0, 0, 0, 0))
    assert with_enough_memory(lambda _runs: believed, ROWS, [a_run()]) is believed
