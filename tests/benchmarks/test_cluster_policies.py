"""The benchmark of the model that comes along: every workload has means and intervals beside both rules."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "cluster_policies.py"


@pytest.mark.slow
def test_it_plays_the_model_and_the_rules_on_the_same_sequences() -> None:
    words = [sys.executable, SCRIPT, "--platforms", "1", "--jobs", "256", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert done.returncode == (1 if found["failed"] else 0), done.stderr
    assert len(found["found"]) == 6
    for one in found["found"].values():
        assert one["saf"]["low"] <= one["saf"]["difference"] <= one["saf"]["high"]
        assert one["best"]["slowdown"] <= one["saf"]["slowdown"]
    assert found["found"]["drawn for 128 processors, load 0.6"]["margin"]["margin"] == -1.0  # too short a past: the rule
