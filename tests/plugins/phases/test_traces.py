from __future__ import annotations

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

TIMES, VALUES = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
TRACES = Traces((CPU, MEMORY), (ExecutionTrace("a", TIMES, VALUES), ExecutionTrace("b", TIMES, VALUES)))


def test_executions_can_be_chosen() -> None:
    assert [execution.name for execution in TRACES.only(["b"]).executions] == ["b"]
    with pytest.raises(UsageError, match="no execution 'c'"):
        TRACES.only(["c"])


def test_so_can_features() -> None:
    assert TRACES.narrowed((MEMORY,)).stacked.tolist() == [[2], [4], [2], [4]]
    with pytest.raises(UsageError, match="has no feature gpu"):
        TRACES.narrowed(("gpu",))
