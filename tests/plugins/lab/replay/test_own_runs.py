"""One's own history as a trace: grouped by what was run, honest about what it lacks."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.lab.replay.traces import Execution, Trace
from jpo.plugins.lab.story.replay import trace_of
from jpo.records import Identity, Outcome, Run, RunStatus

ME = Identity("digits", "cnn", "pytorch")


def run(number: int, seconds: float | None, status: RunStatus = RunStatus.SUCCEEDED, **parameters: float) -> Run:
    return Run(str(number), ME, parameters, status, None, float(number), Outcome(duration_seconds=seconds), "csv")


def traced(*runs: Run) -> tuple[Trace, tuple[str, ...]]:
    return trace_of("digits", "config.ini", runs, lambda run: run.outcome.duration_seconds, cost_unit="USD")


def test_runs_are_grouped_by_what_differs_and_start_with_the_oldest() -> None:
    trace, notes = traced(run(0, 10, batch_size=64, gpus=1), run(1, 20, batch_size=32, gpus=1), run(2, 12, batch_size=64, gpus=1))
    assert trace.configurations == ({"batch_size": 64}, {"batch_size": 32})
    assert trace.executions == ((Execution(10, 10, True), Execution(12, 12, True)), (Execution(20, 20, True),))
    assert trace.default == 0
    assert notes == (
        "digits: only the 2 configurations of its 3 runs can be chosen; others may be better",
        "digits: run 1 of each replay has batch_size = 64, like the oldest run",
    )


def test_a_failed_run_counts_with_the_bill_it_left() -> None:
    trace, _ = traced(run(0, 10, batch_size=64), run(1, 3, RunStatus.OOM_KILLED, batch_size=128))
    assert trace.executions[1] == (Execution(3, 3, False),)


def test_runs_that_lack_something_are_left_out_and_counted() -> None:
    trace, notes = traced(
        run(0, 10, batch_size=64),
        run(1, None, batch_size=32),
        run(2, 9, batch_size=16),
        run(3, 8, gpus=2),
        run(4, 1e308, batch_size=8),
    )
    assert [run["batch_size"] for run in trace.configurations] == [64, 16]
    assert notes[-1] == "digits: 3 runs without a duration, a cost or a parameter are left out"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_fewer_than_two_configurations_are_refused(count: int) -> None:
    with pytest.raises(UsageError, match=rf"config\.ini: its {count} usable runs have one configuration only") as caught:
        traced(*(run(i, 10.0, batch_size=64) for i in range(count)))
    assert caught.value.code == "JPO-E702"
