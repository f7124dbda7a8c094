"""The benchmark of siblings: that it runs, and that a warped job is the same job elsewhere."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jpo.plugins.lab.replay.traces import Execution, Trace

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "siblings.py"
SIBLINGS = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_it_runs_without_recorded_jobs() -> None:
    command = [sys.executable, SCRIPT, "--quick", "--json"]
    (rows,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout).values()
    assert rows["nothing known"]["ratio 6"] == 1
    assert {name for name in rows if "sibling" in name} == {"one sibling", "two siblings"}


def test_a_warped_job_without_bends_keeps_its_ratios() -> None:
    executions = tuple((Execution(seconds, 2 * seconds, True),) for seconds in (100.0, 50.0, 80.0))
    trace = Trace("job", tuple({"batch_size": b} for b in (32.0, 64.0, 128.0)), executions, 0, "USD")
    other = SIBLINGS["warped"](trace, SIBLINGS["Warp"](0.0, (1, 1)), np.random.default_rng(0))
    seconds, costs = ([getattr(e[0], name) for e in other.executions] for name in ("duration_seconds", "cost"))
    assert np.divide(seconds, seconds[0]) == pytest.approx([1, 0.5, 0.8])
    assert np.divide(costs, seconds) == pytest.approx([2, 2, 2])
    assert seconds[0] != 100
