from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.forecast.measurements import End, lower_bounds_of, measurements_of, runs_at_candidates
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

TWO = Candidates(("batch_size", "cpus"), np.array([[32.0, 2.0], [64.0, 2.0]]), 0, np.ones(2, dtype=np.bool_), np.zeros(2))


def run(at: float, status: RunStatus = RunStatus.SUCCEEDED, outcome: Outcome | None = None, **parameters: float) -> Run:
    return Run(f"r{at}", Identity("d", "m", "f"), parameters, status, None, at, outcome or Outcome(duration_seconds=10), "csv")


def test_the_newest_counts_one_and_one_thirty_runs_older_a_half() -> None:
    candidate_runs = runs_at_candidates(TWO, [run(float(at), batch_size=32) for at in range(31)])
    assert [candidate_runs[0].run.ended_at, candidate_runs[0].count] == [30, 1]
    assert [candidate_runs[30].run.ended_at, candidate_runs[30].count] == [0, 0.5]


def test_a_run_that_matches_nothing_is_left_out_but_makes_the_others_older() -> None:
    candidate_runs = runs_at_candidates(TWO, [run(1, batch_size=32), run(2, batch_size=48)])
    assert [run.count for run in candidate_runs] == [pytest.approx(0.5 ** (1 / 30))]


def test_a_missing_parameter_is_todays_and_an_unknown_one_is_not_compared() -> None:
    rows = [run.row for run in runs_at_candidates(TWO, [run(1), run(2, batch_size=64), run(3, batch_size=64, momentum=0.9)])]
    assert rows == [1, 1, 0]


def test_values_agree_to_a_millionth() -> None:
    assert [run.row for run in runs_at_candidates(TWO, [run(1, batch_size=64.00001, cpus=2)])] == [1]
    assert not runs_at_candidates(TWO, [run(1, batch_size=64.001, cpus=2)])
    zero = replace(TWO, values=np.array([[0.0, 2.0], [64.0, 2.0]]))
    assert [run.row for run in runs_at_candidates(zero, [run(1, batch_size=0)])] == [0]


@pytest.mark.parametrize(
    ("status", "outcome", "end"),
    [
        (RunStatus.SUCCEEDED, Outcome(), End.WELL),
        (RunStatus.SUCCEEDED, Outcome(converged=False), End.FAILED),
        (RunStatus.OOM_KILLED, Outcome(duration_seconds=5), End.FAILED),
        (RunStatus.STOPPED, Outcome(duration_seconds=5), End.STOPPED),
        (RunStatus.STOPPED, Outcome(duration_seconds=0), End.FAILED),
        (RunStatus.STOPPED, Outcome(), End.FAILED),
    ],
)
def test_how_a_run_ended(status: RunStatus, outcome: Outcome, end: End) -> None:
    assert runs_at_candidates(TWO, [run(1, status, outcome)])[0].end is end


def test_logs_are_averaged_by_how_much_each_run_counts() -> None:
    runs = [run(float(at), outcome=Outcome(duration_seconds=seconds)) for at, seconds in ((1, 10), (2, 1000))]
    measurements = measurements_of(runs_at_candidates(TWO, runs), lambda run: run.run.outcome.duration_seconds)
    older = 0.5 ** (1 / 30)
    assert list(measurements.rows) == [0]
    assert measurements.count == pytest.approx([1 + older])
    assert measurements.mean == pytest.approx([(math.log(1000) + older * math.log(10)) / (1 + older)])


def test_what_is_absent_or_not_positive_was_not_measured() -> None:
    runs = [run(1, outcome=Outcome(val_loss=-1.0)), run(2, outcome=Outcome()), run(3, outcome=Outcome(val_loss=0.0))]
    assert not measurements_of(runs_at_candidates(TWO, runs), lambda run: run.run.outcome.val_loss).rows.size


@pytest.mark.parametrize(("number", "log"), [(5e-324, -100), (1.7e308, 100), (math.inf, 100), (math.e, 1)])
def test_logs_stay_where_they_can_be_forecast(number: float, log: float) -> None:
    assert measurements_of(runs_at_candidates(TWO, [run(1)]), lambda _: number).mean == pytest.approx([log])


def test_of_stopped_runs_the_longest_counts_once() -> None:
    runs = [run(float(at), RunStatus.STOPPED, Outcome(duration_seconds=s), batch_size=64) for at, s in ((1, 7), (2, 20), (3, 9))]
    lower_bounds = lower_bounds_of(runs_at_candidates(TWO, runs), lambda run: run.outcome.duration_seconds)
    assert (list(lower_bounds.rows), list(lower_bounds.count)) == ([1], [1])
    assert lower_bounds.mean == pytest.approx([math.log(20)])
