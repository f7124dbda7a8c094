"""The benchmark of many workloads: that it runs, and that what one call answers is what a call for each answers."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_many_are_answered_as_each_alone_by_several_processes(tmp_path: Path) -> None:
    """Thirty are two parts, each for a process of its own where there are two cores."""
    benchmark = runpy.run_path(str(ROOT / "benchmarks/many_files.py"))
    figures = benchmark["measured"](tmp_path, 30, 3)
    assert figures["alike"]
    assert figures["ratio"] == pytest.approx(figures["cpu_seconds_of_many"] / figures["cpu_seconds_alone"])
    assert "Many workloads at once" in benchmark["in_words"](figures)
