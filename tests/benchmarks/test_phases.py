"""The benchmark of phases: that its figures are computed as the text says."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/phases.py"), run_name="phases")


def test_a_change_counts_where_it_is_and_a_little_around() -> None:
    true = np.repeat([0, 1, 0], 10)
    assert BENCHMARK["change_f1"](true, true, (30,)) == 1
    assert BENCHMARK["change_f1"](true, np.roll(true, 2), (30,)) == 1
    assert BENCHMARK["change_f1"](true, np.roll(true, 5), (30,)) < 0.5
    assert BENCHMARK["change_f1"](true, np.zeros(30), (30,)) == 0


def test_the_start_of_an_execution_is_no_change() -> None:
    assert BENCHMARK["changes"](np.repeat([0, 1, 2], 10), (10, 20)) == [20]
