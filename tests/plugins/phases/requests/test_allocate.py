from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phase_traces import made_traces

from jpo.errors import UsageError
from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.allocate import Budget, LeftOut, allocate
from jpo.plugins.phases.requests.caution import CAREFUL, LADDER
from jpo.plugins.phases.requests.evaluate import standings
from jpo.plugins.phases.requests.watch import LEAST
from jpo.plugins.phases.traces import CPU, ExecutionTrace, Traces


def others(**options: object) -> Traces:
    return made_traces(runs=3, seed=11, **options)[0]  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.floats(0, 64), st.floats(0, 1e11), st.integers(0, 2**31))
def test_nothing_at_or_after_a_time_changes_what_was_requested_until_then(
    model: PhaseModel, at: int, cpu: float, memory: float, seed: int
) -> None:
    (execution, *_) = others().executions
    rng = np.random.default_rng(seed)
    values, times = execution.values.copy(), execution.times.copy()
    values[at:] = np.abs(rng.normal(size=values[at:].shape)) * (cpu, memory)
    times[at + 1 :] = times[at] + np.cumsum(rng.random(len(times) - at - 1) * 100 + 1)
    changed = ExecutionTrace(execution.name, times, values)
    before, after = (allocate(model, replace(others(), executions=(one,)))[0] for one in (execution, changed))
    assert (before.requests[: at + 1] == after.requests[: at + 1]).all()
    assert [row for row in before.resized if row <= at] == [row for row in after.resized if row <= at]


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_runs_that_were_not_seen_get_what_they_need_within_the_budget(noise: float) -> None:
    traces = made_traces(runs=6, noise=noise, seed=1)[0]
    fitted = fit_model(replace(traces, executions=traces.executions[:4]))
    found = standings(allocate(fitted, replace(traces, executions=traces.executions[4:])))
    assert found.met.mean >= 0.95
    assert found.most_resizes_per_hour <= 30
    assert found.cpu.mean < 1
    assert found.memory.mean < 0.9


@pytest.mark.parametrize("per_hour", [1.0, 10.0, 30.0])
def test_at_no_time_were_there_more_resizes_than_the_budget(model: PhaseModel, per_hour: float) -> None:
    for allocation in allocate(model, others(noise=2.0), per_hour=per_hour):
        times = allocation.execution.times
        for count, at in enumerate(allocation.resized, start=1):
            assert count <= (times[at] - times[0]) * per_hour / 3600


def test_a_request_holds_until_the_next_row(model: PhaseModel) -> None:
    (allocation, *_) = allocate(model, others())
    rows = list(allocation.rows())
    assert rows[0][:2] == (allocation.execution.name, allocation.execution.times[0])
    assert len(rows) == len(allocation.resized) + 1
    times, held = np.array([row[1] for row in rows]), np.array([row[2:] for row in rows])
    assert (allocation.requests == held[np.searchsorted(times, allocation.execution.times, side="right") - 1]).all()


def test_demand_beyond_training_is_followed(model: PhaseModel) -> None:
    (execution, *_) = others().executions
    grown = ExecutionTrace("grown", execution.times, execution.values * (3.0, 4.0))
    (allocation,) = allocate(model, replace(others(), executions=(grown,)))
    assert (allocation.requests >= grown.values).all(1).mean() > 0.85
    assert (allocation.requests.max(0) <= grown.values.max(0) * 1.5).all()


def test_a_trace_unlike_training_is_allocated_by_its_last_samples(model: PhaseModel) -> None:
    times = 20.0 * np.arange(120)
    strange = ExecutionTrace("strange", times, np.tile([40.0, 9e11], (120, 1)))
    (allocation,) = allocate(model, replace(others(), executions=(strange,)))
    assert allocation.drifted > 0.5
    assert (allocation.requests[20:] >= strange.values[20:]).all()
    assert (allocation.requests[20:] <= strange.values[20:] * 1.5).all()


def test_by_the_last_minutes_phases_say_nothing(model: PhaseModel) -> None:
    (execution, *_) = others().executions
    (allocation,) = allocate(replace(model, caution=(CAREFUL + 1, CAREFUL + 1)), replace(others(), executions=(execution,)))
    last = allocation.resized[-1]
    recent = execution.times[:last] >= execution.times[last - 1] - 300
    peak = execution.values[:last][recent].max(0)
    assert (allocation.requests[last] <= np.maximum(peak * 1.5, LEAST * model.most.ever)).all()
    assert (allocation.requests >= execution.values).all(1).mean() > 0.8


def test_requests_never_fall_below_a_share_of_the_peak(model: PhaseModel) -> None:
    idle = ExecutionTrace("idle", 20.0 * np.arange(60), np.tile([0.001, 1e6], (60, 1)))
    (allocation,) = allocate(model, replace(others(), executions=(idle,)))
    assert (allocation.requests >= LEAST * model.most.ever * 0.999).all()
    assert (allocation.requests[-1] < 2 * LEAST * model.most.ever).all()


def test_pairs_of_steps_are_tried_as_they_would_be_allocated(model: PhaseModel) -> None:
    pairs = [*((step, step) for step in range(len(LADDER))), (CAREFUL + 1, 2)]
    trial = LeftOut(model, others()).on(pairs)
    for at, caution in ((2, (2, 2)), (-1, (CAREFUL + 1, 2))):
        one = allocate(replace(model, caution=caution), others())
        used = np.concatenate([allocation.execution.values for allocation in one])
        missed = np.concatenate([allocation.requests for allocation in one]) < used
        assert trial.samples == len(used)
        assert trial.missed[at].tolist() == missed.sum(0).tolist()
        assert trial.either[at] == missed.any(1).sum()
        each = [(one.requests < one.execution.values).any(1) for one in one]
        assert trial.spells[at] == sum(np.diff(np.r_[False, missed].astype(int)).clip(0).sum() for missed in each)
    assert (np.diff(trial.allocated.sum(1)[: CAREFUL + 1]) > 0).all()


@pytest.mark.parametrize("per_hour", [1.0, 7.0, 30.0])
def test_no_hour_has_more_resizes_than_its_budget(model: PhaseModel, per_hour: float) -> None:
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.choice([5.0, 60.0, 4000.0], 3000, p=[0.6, 0.399, 0.001]))
    quiet = (np.arange(3000) // 150) % 2  # what is saved up in a quiet time is spent in a lively one
    lively = np.exp(rng.normal(0, 1, 3000))
    execution = ExecutionTrace("walk", times, np.stack([np.where(quiet, 1.0, lively), np.full(3000, 2e9)], axis=1))
    (allocation,) = allocate(model, replace(others(), executions=(execution,)), per_hour=per_hour)
    at = times[list(allocation.resized)]
    within = np.searchsorted(at, at + 3600, side="left") - np.arange(len(at))
    assert within.max() <= per_hour


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.5, 7.0, 20.0, 300.0]), st.sampled_from([4.0, 30.0]), st.integers(2, 400))
def test_runs_shorter_than_an_hour_and_any_hour_of_longer_ones_keep_the_budget(
    model: PhaseModel, seed: int, interval: float, per_hour: float, samples: int
) -> None:
    """Of what has passed of a run its share, so none in the first two minutes; and no hour, wherever it begins, has more."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(interval * rng.choice([0.5, 1.0, 30.0], samples, p=[0.6, 0.38, 0.02]))
    values = np.exp(rng.normal(0, 1, (samples, 2))) * (1.0, 2e9)
    (allocation,) = allocate(model, replace(others(), executions=(ExecutionTrace("wild", times, values),)), per_hour=per_hour)
    at = times[list(allocation.resized)]
    assert (np.arange(1, len(at) + 1) <= (at - times[0]) * per_hour / 3600 + 1e-9).all()
    assert all((at[first:] < at[first] + 3600).sum() <= per_hour for first in range(len(at)))


def test_an_unused_budget_is_not_saved_up_for_ever() -> None:
    budget = Budget(30)
    budget.pass_time(60)
    assert budget.left == 0.5
    budget.pass_time(1e9)
    assert budget.left == 4


def test_a_model_without_memory_allocates_nothing(traces: Traces) -> None:
    with pytest.raises(UsageError, match="fitted without"):
        allocate(fit_model(traces.narrowed([CPU])), others())
