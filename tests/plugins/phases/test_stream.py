from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phase_traces import made_traces

from jpo.errors import UsageError
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.stream import Stream
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1e12)), min_size=2, max_size=40))
def test_a_stream_says_what_the_batch_filter_says(model: PhaseModel, samples: list[tuple[float, float]]) -> None:
    execution = ExecutionTrace("x", np.arange(float(len(samples))), np.array(samples))
    batch = model.filtered(replace(made_traces(runs=1)[0], executions=(execution,)))
    stream = Stream(model)
    for t, sample, expected in zip(execution.times, execution.values, batch, strict=True):
        update = stream.update(t, sample)
        assert np.allclose(update.probabilities, expected, rtol=1e-9, atol=1e-12)
        assert update.phase == expected.argmax()


def test_the_next_need_has_quantiles_in_order(model: PhaseModel) -> None:
    stream = Stream(model)
    (execution,) = made_traces(runs=1, seed=4)[0].executions
    below = []
    for t, sample, following in zip(execution.times[:-1], execution.values[:-1], execution.values[1:], strict=True):
        update = stream.update(t, {CPU: sample[0], MEMORY: sample[1]})
        assert update.next_quantiles is not None
        assert (np.diff(update.next_quantiles, axis=1) >= 0).all()
        below.append(following <= update.next_quantiles[:, 2])
    assert np.mean(below) > 0.9


@pytest.mark.parametrize(("t", "sample"), [(0.0, [1.0, 1.0]), (2.0, [np.nan, 1.0]), (2.0, [1.0, -1.0]), (2.0, [1.0])])
def test_what_cannot_follow_is_refused(model: PhaseModel, t: float, sample: list[float]) -> None:
    stream = Stream(model)
    stream.update(1.0, np.ones(2))
    with pytest.raises(UsageError, match="stream: "):
        stream.update(t, np.array(sample))
