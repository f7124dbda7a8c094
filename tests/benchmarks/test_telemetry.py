"""The telemetry benchmark: that it runs on a small history, finds every run of it, and computes its claims as the text says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "telemetry.py"


@pytest.mark.slow
def test_a_small_history_is_measured_both_ways(tmp_path: Path) -> None:
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        reason = "prometheus and promtool not found: apt-get install prometheus"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    command = [sys.executable, SCRIPT, "--runs", "20", "--looks", "1", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), "TMPDIR": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert result.returncode in (0, 1), result.stderr
    figures = json.loads(result.stdout)
    assert (figures["jpo"]["nothing new"]["requests"], figures["naive"]["10 new"]["requests"]) == (1, 81)
    assert figures["jpo"]["10 new"]["requests"] <= 15
    assert (result.returncode == 0) == all(figures["holds"].values())
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_without_prometheus_it_says_what_to_install(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), "PATH": str(tmp_path)}
    result = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False, env=environment)
    assert (result.returncode, result.stdout) == (2, "")
    assert "apt-get install prometheus" in result.stderr
