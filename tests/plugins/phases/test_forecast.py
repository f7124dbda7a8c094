from __future__ import annotations

from dataclasses import replace

import numpy as np
from phase_traces import made_traces

from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.forecast import forecast
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.allocate import allocate
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import ExecutionTrace, Traces


def cut(at: int) -> Traces:
    """The first samples of a run."""
    traces = made_traces(runs=1, seed=21)[0]
    (execution,) = traces.executions
    return replace(traces, executions=(ExecutionTrace("cut", execution.times[:at], execution.values[:at]),))


def test_the_start_is_followed_by_loading(model: PhaseModel) -> None:
    (start,), (loading,) = forecast(model, cut(5)), forecast(model, cut(18))
    assert start.phase == 0
    assert model.filtered(cut(5))[-1, 0] > 0.9
    assert start.next_phase == loading.phase
    assert start.left_seconds is not None
    assert 20 <= start.left_seconds <= 300
    assert start.stay_seconds is not None
    assert 200 <= start.stay_seconds <= 500


def test_the_longer_it_lasts_the_sooner_it_ends(model: PhaseModel) -> None:
    left = [found.left_seconds for at in (2, 7) for found in forecast(model, cut(at))]
    assert left[0] is not None
    assert left[1] is not None
    assert left[1] < left[0]


def test_nothing_follows_the_last_phase(model: PhaseModel) -> None:
    (found,) = forecast(model, made_traces(runs=1, seed=21)[0])
    assert (found.next_phase, found.left_seconds, found.stay_seconds) == (None, None, None)


def test_needs_cover_what_comes_by_their_quantile(model: PhaseModel) -> None:
    traces = made_traces(runs=1, seed=21)[0]
    (execution,) = traces.executions
    covered = []
    for at in range(3, len(execution.times) - 8):
        (expected,) = forecast(model, cut(at))
        assert expected.cpu_cores is not None
        assert expected.memory_gib is not None
        need = np.array([expected.cpu_cores, expected.memory_gib * GIB])
        soon = execution.times[at:] <= execution.times[at - 1] + 120
        covered.append((execution.values[at:][soon].max(0) <= need * 1.05).mean())
    assert np.mean(covered) > 0.8


def test_a_container_without_measured_memory_needs_none() -> None:
    traces = made_traces(runs=2, seed=21)[0]
    without = replace(traces, executions=tuple(ExecutionTrace(c.name, c.times, c.values * (1.0, 0.0)) for c in traces.executions))
    fitted = fit_model(without)
    needs = [expected.memory_gib for expected in forecast(fitted, without)]
    assert all(need is not None and 0 <= need * GIB <= 1 for need in needs)
    assert all(np.isfinite(allocation.requests).all() for allocation in allocate(fitted, without))
