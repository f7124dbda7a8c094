from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from phase_traces import made_traces

from jpo.errors import UsageError
from jpo.plugins.phases.fit import METHODS, FitOptions, fit_model
from jpo.plugins.phases.methods.crbm import CENTRES, CrbmOptions
from jpo.plugins.phases.methods.labels import phases_of
from jpo.plugins.phases.model_file import encoded, read_model
from jpo.plugins.phases.requests.allocate import allocate
from jpo.plugins.phases.traces import Traces


@pytest.mark.parametrize("method", METHODS)
def test_each_method_fits_is_kept_and_allocates(method: str, tmp_path: Path) -> None:
    traces = made_traces(runs=3)[0]
    model = fit_model(traces, FitOptions(method, crbm=CrbmOptions(epochs=20)))  # type: ignore[arg-type]
    (tmp_path / "m").write_bytes(encoded(model))
    read = read_model(tmp_path / "m")
    new = made_traces(runs=1, seed=4)[0]
    assert (phases_of(read, new) == phases_of(model, new)).all()
    assert phases_of(read, new).max() < read.chain.phases
    (allocation,) = allocate(read, new)
    assert (allocation.requests >= new.stacked).all(1).mean() > 0.8


def test_parity_is_of_the_method_that_ai4dl_has(traces: Traces) -> None:
    few = replace(traces, executions=traces.executions[:2])
    model = fit_model(few, FitOptions("crbm-kmeans", crbm=CrbmOptions(epochs=5)))
    own, shown = phases_of(model, few), phases_of(model, few, parity=True)
    assert (shown[5 : few.lengths[0]] == own[4 : few.lengths[0] - 1]).all()
    with pytest.raises(UsageError, match="the model is by markov"):
        phases_of(fit_model(few), few, parity=True)


def test_a_machine_that_does_not_fit_its_model_is_refused(traces: Traces) -> None:
    few = replace(traces, executions=traces.executions[:2])
    model = fit_model(few, FitOptions("crbm-kmeans", crbm=CrbmOptions(epochs=2)))
    for weights in ({}, {**model.weights, CENTRES: np.ones((2, 2))}):
        with pytest.raises(UsageError, match="do not go together"):
            phases_of(replace(model, weights=weights), few)
