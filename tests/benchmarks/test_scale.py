"""The benchmark of long histories: that it runs, and that its claim is computed as the text says."""

from __future__ import annotations

import json
import math
import random
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "scale.py"
SCALE = runpy.run_path(str(SCRIPT))
JPO = Path(sys.executable).parent / "jpo"


def test_a_short_history_is_measured_and_the_claim_computed():
    command = [sys.executable, SCRIPT, "--runs", "5", "20", "--times", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = json.loads(done.stdout)
    assert set(figures["used"]) == {"5", "20"}
    assert all(used["seconds"] > 0 and used["peak_mib"] > 10 for used in figures["used"].values())
    within = all(used["seconds"] <= 1 and used["peak_mib"] <= 300 for used in figures["used"].values())
    assert (done.returncode == 0) == figures["holds"] == within


def test_all_runs_are_on_record_and_no_two_are_alike(tmp_path):
    SCALE["on_record"](JPO, tmp_path, 12)
    told = subprocess.run([JPO, "history", "--format", "json"], cwd=tmp_path, capture_output=True, text=True, check=True)
    runs = json.loads(told.stdout)["runs"]
    assert len({tuple(run["parameters"].items()) for run in runs}) == 12
    assert "logs" not in (tmp_path / "jpo.toml").read_text()


def test_a_log_is_that_of_a_run_that_ended_well():
    log = SCALE["run_log"](3, 1.8e9, random.Random(0))
    assert "# run_id=scale-3" in log
    assert log.endswith("# status=succeeded\n# memory_bytes=8000000000\n")


def test_what_takes_too_long_is_stopped_and_breaks_the_promise(tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    used = SCALE["once"](slow, tmp_path, 0.2)
    assert math.isinf(used.seconds)
    assert not SCALE["claim"]({10: used})
    assert "| 10 | inf |" in SCALE["table"]({10: used}, 1, False)


def test_a_suggestion_that_fails_is_not_measured(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho why >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match=r"failed \(3\): why"):
        SCALE["once"](broken, tmp_path, 10)
