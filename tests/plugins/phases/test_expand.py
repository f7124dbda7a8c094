from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from phase_traces import made_traces

from jpo.errors import UsageError
from jpo.plugins.phases.expand import expand
from jpo.plugins.phases.fit import fit_model
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.model_file import encoded
from jpo.plugins.phases.requests.caution import CAREFUL, HELD
from jpo.plugins.phases.traces import ExecutionTrace, Traces


def with_a_new_phase() -> Traces:
    """Runs that end in a phase which nobody has seen."""
    traces = made_traces(runs=2, seed=8)[0]
    executions = []
    for execution in traces.executions:
        times = np.r_[execution.times, execution.times[-1] + 20 * np.arange(1, 16)]
        values = np.r_[execution.values, np.tile([9.0, 60e9], (15, 1))]
        executions.append(ExecutionTrace(execution.name, times, values))
    return replace(traces, executions=tuple(executions))


def test_what_is_new_gets_a_number_behind_the_old_ones(model: PhaseModel) -> None:
    new = with_a_new_phase()
    more = expand(model, new)
    assert more.chain.phases == model.chain.phases + 1
    assert (more.chain.means[: model.chain.phases] == model.chain.means).all()
    phases = more.predict(new)
    ends = np.cumsum(new.lengths)
    assert (phases[ends[0] - 15 : ends[0]] == model.chain.phases).all()
    assert more.most.ever[1] == 60e9
    assert (more.executions, more.samples) == (model.executions + 2, model.samples + new.samples)


def test_old_traces_keep_their_phases(model: PhaseModel, traces: Traces) -> None:
    more = expand(model, with_a_new_phase())
    assert (more.predict(traces) == model.predict(traces)).mean() > 0.99


def test_a_model_of_one_execution_that_learns_more_need_not_hold_its_peak_any_longer(traces: Traces) -> None:
    one = fit_model(replace(traces, executions=traces.executions[:1]))
    more = expand(one, replace(traces, executions=traces.executions[1:]))
    assert (one.caution, more.caution) == ((HELD, HELD), (CAREFUL, CAREFUL))
    assert not any("JPO-W875" in note for note in more.notes)


def test_nothing_new_adds_nothing(model: PhaseModel) -> None:
    assert expand(model, made_traces(runs=2, seed=8)[0]).chain.phases == model.chain.phases


def test_a_phase_can_be_split(model: PhaseModel, traces: Traces) -> None:
    wide = int(np.argmax(np.bincount(model.predict(traces))))
    values = [
        execution.values * np.where(np.arange(len(execution.times)) % 30 < 15, 1.0, 1.12)[:, None]
        for execution in traces.executions
    ]
    executions = tuple(
        ExecutionTrace(execution.name, execution.times, used) for execution, used in zip(traces.executions, values, strict=True)
    )
    more = expand(model, replace(traces, executions=executions), split=wide)
    assert more.chain.phases == model.chain.phases + 1
    others = [phase for phase in range(model.chain.phases) if phase != wide]
    assert (more.chain.means[others] == model.chain.means[others]).all()
    assert encoded(more)


@pytest.mark.parametrize(("phase", "said"), [(99, "there is no phase 99"), (0, "phase 0 has 2 samples")])
def test_what_cannot_be_split_is_said(model: PhaseModel, phase: int, said: str) -> None:
    traces = made_traces(runs=1, seed=8)[0]
    execution = traces.executions[0]
    short = replace(traces, executions=(ExecutionTrace("x", execution.times[:2], execution.values[:2]),))
    with pytest.raises(UsageError, match=said):
        expand(model, short, split=phase)
