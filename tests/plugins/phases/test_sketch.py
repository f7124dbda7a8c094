from __future__ import annotations

import numpy as np

from jpo.plugins.phases.sketch import LONGEST, phase_lines, resource_lines
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

TRACES = Traces((CPU, MEMORY), (ExecutionTrace("a", np.arange(4.0), np.array([[0.0, 5], [1, 5], [2, 5], [4, 5]])),))


def test_lines_are_as_high_as_what_was_used() -> None:
    phases = np.array([0, 0, 1, 11])
    assert list(phase_lines(TRACES, phases)) == [("a", "001b")]
    assert list(resource_lines(TRACES, phases)) == [("a cpu_cores", "▁▃▅█"), ("a memory_bytes", "████"), ("a phase", "001b")]


def test_a_long_execution_fits_into_a_line() -> None:
    n = 1000
    traces = Traces((CPU,), (ExecutionTrace("a", np.arange(float(n)), np.zeros((n, 1))),))
    ((_, line), _) = resource_lines(traces, np.zeros(n, dtype=np.int64))
    assert len(line) <= LONGEST
