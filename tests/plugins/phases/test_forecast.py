from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from phase_traces import made_traces

from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.forecast import forecast
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.allocate import allocate
from jpo.plugins.phases.traces import ExecutionTrace, Traces


def cut(at: int) -> Traces:
    """The first samples of a run."""
    traces = made_traces(runs=1, seed=21)[0]
    (execution,) = traces.executions
    return replace(traces, executions=(ExecutionTrace("cut", execution.times[:at], execution.values[:at]),))


def test_the_start_is_followed_by_loading(model: PhaseModel) -> None:
    start, loading = forecast(model, cut(5))[0], forecast(model, cut(18))[0]
    assert start.phase == 0
    assert start.probability > 0.9
    assert start.next_phase == loading.phase
    assert start.next_probabilities.sum() == pytest.approx(1)
    assert start.left_seconds is not None
    assert 20 <= start.left_seconds <= 300
    assert start.stay_seconds is not None
    assert 200 <= start.stay_seconds <= 500


def test_the_longer_it_lasts_the_sooner_it_ends(model: PhaseModel) -> None:
    left = [forecast(model, cut(at))[0].left_seconds for at in (2, 7)]
    assert left[0] is not None
    assert left[1] is not None
    assert left[1] < left[0]


def test_nothing_follows_the_last_phase(model: PhaseModel) -> None:
    (found,) = forecast(model, made_traces(runs=1, seed=21)[0])
    assert (found.next_phase, found.left_seconds, found.stay_seconds) == (None, None, None)
    assert not found.next_probabilities.any()


def test_needs_cover_what_comes_by_their_quantile(model: PhaseModel) -> None:
    traces = made_traces(runs=1, seed=21)[0]
    (execution,) = traces.executions
    covered = []
    for at in range(3, len(execution.times) - 8):
        need = forecast(model, cut(at), q=0.95)[0].need
        assert need is not None
        soon = execution.times[at:] <= execution.times[at - 1] + 120
        covered.append((execution.values[at:][soon].max(0) <= need * 1.05).mean())
    assert np.mean(covered) > 0.8


def test_a_container_without_measured_memory_needs_none() -> None:
    traces = made_traces(runs=2, seed=21)[0]
    without = replace(traces, executions=tuple(ExecutionTrace(c.name, c.times, c.values * (1.0, 0.0)) for c in traces.executions))
    fitted = fit_model(without)
    assert all(expected.need is not None and 0 <= expected.need[1] <= 1 for expected in forecast(fitted, without))
    assert all(np.isfinite(allocation.requests).all() for allocation in allocate(fitted, without))
