from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.phases.table import in_units, phase_figures
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

TRACES = Traces(
    (CPU, MEMORY),
    (
        ExecutionTrace("a", np.array([0.0, 10, 20, 40, 60]), np.array([[1.0, 1], [1, 1], [3, 9], [5, 9], [1, 1]])),
        ExecutionTrace("b", np.array([0.0, 10]), np.array([[1.0, 1], [3, 9]])),
    ),
)
PHASES = np.array([0, 0, 1, 1, 0, 0, 1])


def test_shares_dwell_times_uses_and_what_follows() -> None:
    idle, busy = phase_figures(TRACES, PHASES, 2)
    assert idle.share == pytest.approx(4 / 7)
    assert (idle.stays, busy.stays) == (3, 2)
    assert idle.dwell_seconds == 15  # 20 and 10 seconds; the third ended with its execution
    assert busy.dwell_seconds == 40
    assert (busy.used[CPU].mean, busy.used[CPU].most, busy.used[MEMORY].p50) == (pytest.approx(11 / 3), 5, 9)
    assert idle.next == {1: 1.0}


def test_a_phase_that_no_sample_has_uses_nothing() -> None:
    assert phase_figures(TRACES, PHASES, 3)[2].used == {}


def test_sizes_are_read_in_gib() -> None:
    assert in_units(MEMORY, float(1 << 31)) == 2
    assert in_units(CPU, 2.0) == 2
