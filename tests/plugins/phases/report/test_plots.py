from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jpo.plugins.phases.report.plots import plot_resources, plot_variance
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

TRACES = Traces(
    (CPU, MEMORY), tuple(ExecutionTrace(f"r{at} $x", np.arange(6.0), np.arange(12.0).reshape(6, 2)) for at in range(14))
)
PHASES = np.tile([0, 0, 1, 1, 1, 0], 14)


@pytest.mark.parametrize("plot", [plot_resources, plot_variance])
def test_a_picture_is_the_same_twice(tmp_path: Path, plot) -> None:  # type: ignore[no-untyped-def]
    for name in ("a.svg", "b.svg"):
        plot(TRACES, PHASES, 3, "viridis", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    plot(TRACES, PHASES, 12, "tab10", tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
