"""The benchmark of releases during a run: that it runs, and how its figures are counted."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "release.py"
RELEASE = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_it_runs() -> None:
    command = [sys.executable, SCRIPT, "--rounds", "1", "--epochs", "3", "--kinds", "waiting", "--json"]
    ways = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["waiting"]
    assert set(ways) == {"nothing", "jpo", "peak x 1.2"}
    assert (ways["nothing"]["time"], ways["nothing"]["cpus"]) == (1.0, 0.0)


def test_times_are_those_beside_nothing_in_the_same_round() -> None:
    played = RELEASE["Played"]
    found = RELEASE["summary"]([played(20.0, 0.5, 0.0, 1), played(5.0, 0.1, 0.0, 0)], [played(10.0, 0, 0, 0)] * 2)
    assert (found["time"], found["times"]) == (1.0, [0.5, 2.0])
    assert (found["cpus"], found["returned"]) == (0.3, 0.5)
