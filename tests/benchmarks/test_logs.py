"""The benchmark of a folder of logs: that it runs, that both sides find the same, and that its claim is computed as it says."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "logs.py"
LOGS = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_one_round_measures_jpo_and_pandas_which_find_the_same() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    command = [sys.executable, SCRIPT, "--logs", "30", "--rows", "3", "--runs", "1", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    figures = json.loads(result.stdout)
    assert set(figures["used"]) == {LOGS["JPO"], LOGS["PANDAS"]}
    assert min(workload["seconds"] for workload in figures["used"].values()) > 0
    assert result.returncode == (0 if figures["holds"] else 1)


def test_a_different_number_is_noticed() -> None:
    workload = {"dataset": "d", "model": "m", "framework": "f", "duration_seconds": {"median": 2.0}}
    answers = {LOGS["JPO"]: json.dumps({"workloads": [workload | {"best": {"time": {"duration_seconds": 1.0}}}]})}
    assert LOGS["agree"]({**answers, LOGS["PANDAS"]: '{"d/m/f": [2.0, 1.0]}'})
    assert not LOGS["agree"]({**answers, LOGS["PANDAS"]: '{"d/m/f": [2.0, 1.1]}'})
    assert not LOGS["agree"]({**answers, LOGS["PANDAS"]: "{}"})


def test_the_table_says_the_ratio_and_whether_the_claim_holds() -> None:
    used = {LOGS["JPO"]: LOGS["Used"](0.4, 40), LOGS["PANDAS"]: LOGS["Used"](0.8, 120)}
    assert "0.50 of pandas' time; at most 0.75 is promised: holds" in LOGS["table"](used, 1000, 100, 5, True)
    assert "not installed" in LOGS["table"]({LOGS["JPO"]: used[LOGS["JPO"]]}, 1000, 100, 5, True)
