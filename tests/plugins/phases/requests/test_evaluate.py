from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.phases.fit import fit_phases
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.allocate import Allocation
from jpo.plugins.phases.requests.evaluate import compare, leave_out, standings
from jpo.plugins.phases.traces import ExecutionTrace, Traces

EXECUTION = ExecutionTrace("a", np.array([0.0, 1800, 3600]), np.array([[1.0, 10], [2, 20], [4, 40]]))


def test_figures_are_those_of_the_definition() -> None:
    allocation = Allocation(EXECUTION, np.array([[2.0, 20], [2, 10], [4, 40]]), (1, 2))
    found = standings([allocation])
    assert found.met.mean == pytest.approx(2 / 3)
    assert found.cpu.mean == pytest.approx(8 / 12)
    assert found.memory.mean == pytest.approx(70 / 120)
    assert found.resizes_per_hour == found.most_resizes_per_hour == 2
    assert found.met.low is None


def test_several_executions_have_an_interval() -> None:
    good = Allocation(EXECUTION, EXECUTION.values * 1.1, ())
    bad = Allocation(EXECUTION, EXECUTION.values * 0.9, ())
    met = standings([good, bad, good]).met
    assert met.low is not None
    assert met.high is not None
    assert met.mean == pytest.approx(2 / 3)
    assert met.low < met.mean < met.high


def test_the_model_comes_first_among_its_peers(model: PhaseModel, traces: Traces) -> None:
    ways = compare(replace(traces, executions=traces.executions[:1]), traces, model)
    assert next(iter(ways)) == "phases"
    assert {len(allocations) for allocations in ways.values()} == {1}


def test_nobody_sees_the_execution_that_is_left_out(traces: Traces) -> None:
    few = replace(traces, executions=traces.executions[:3])
    seen = []

    def fit(rest: Traces) -> PhaseModel:
        seen.append([execution.name for execution in rest.executions])
        return fit_phases(rest)

    ways = leave_out(few, fit)
    assert seen == [["run-1", "run-2"], ["run-0", "run-2"], ["run-0", "run-1"]]
    assert [allocation.execution.name for allocation in ways["KRR"]] == ["run-0", "run-1", "run-2"]
