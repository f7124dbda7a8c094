"""The benchmark of the cluster lab: both simulators find the same schedules, and the table says what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason='gymnasium not found: pip install "jpo[cluster]"')

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "cluster.py"


@pytest.mark.slow
def test_it_measures_both_on_the_same_schedules() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--jobs", "400", "--rounds", "1", "--json"], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert done.returncode == (1 if found["failed"] else 0), done.stderr
    assert {"fcfs", "saf+easy", "wfp3", "platform fcfs", "decisions job"} <= set(found["measured"])
    assert all(one["per_second"] > 0 for one in found["measured"].values())
    assert found["measured"]["saf+easy"]["ratio"] > 0
