"""What JPO says was saved is true, on this machine and on a real SLURM."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "truth.py"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "slurm"])
def test_what_is_said_to_be_saved_is_what_the_stamps_of_the_script_say(engine, request):
    if engine == "slurm":
        request.getfixturevalue("slurm_cluster")  # skips where SLURM is not installed
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    command = [sys.executable, str(SCRIPT), "--engines", engine, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(json.loads(run.stdout)) == 6
