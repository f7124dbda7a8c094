from __future__ import annotations

import numpy as np

from jpo.plugins.phases.sketch import LONGEST, course_lines, phase_lines
from jpo.plugins.phases.traces import CPU, MEMORY, ResourceCourse, Traces

TRACES = Traces((CPU, MEMORY), (ResourceCourse("a", np.arange(4.0), np.array([[0.0, 5], [1, 5], [2, 5], [4, 5]])),))


def test_lines_are_as_high_as_what_was_used() -> None:
    phases = np.array([0, 0, 1, 11])
    assert list(phase_lines(TRACES, phases)) == [("a", "001b")]
    assert list(course_lines(TRACES, phases)) == [("a cpu_cores", "▁▃▅█"), ("a memory_bytes", "████"), ("a phase", "001b")]


def test_a_long_execution_fits_into_a_line() -> None:
    n = 1000
    traces = Traces((CPU,), (ResourceCourse("a", np.arange(float(n)), np.zeros((n, 1))),))
    ((_, line), _) = course_lines(traces, np.zeros(n, dtype=np.int64))
    assert len(line) <= LONGEST
