"""The start-up benchmark: that it runs, and that its claim is computed as the text says."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "startup.py"
STARTUP = runpy.run_path(str(SCRIPT))


@pytest.mark.slow
def test_one_run_measures_every_command_and_computes_the_claim() -> None:
    result = subprocess.run([sys.executable, SCRIPT, "--runs", "1", "--json"], capture_output=True, text=True, check=False)
    figures = json.loads(result.stdout)
    assert {STARTUP["YARDSTICK"], STARTUP["SUGGEST"]} <= set(figures["cpu_seconds"])
    assert min(figures["cpu_seconds"].values()) > 0
    assert (result.returncode == 0) == figures["holds"] == (figures["ratios"][STARTUP["SUGGEST"]] <= STARTUP["MOST"])


def test_the_claim_is_relative_to_import_torch() -> None:
    ratios, holds = STARTUP["claim"]({STARTUP["YARDSTICK"]: 2.0, STARTUP["SUGGEST"]: 0.76})
    assert (ratios[STARTUP["SUGGEST"]], holds) == (0.38, True)
    assert not STARTUP["claim"]({STARTUP["YARDSTICK"]: 2.0, STARTUP["SUGGEST"]: 0.78})[1]


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"failed \(3\): why"):
        STARTUP["cpu_seconds"]([sys.executable, "-c", "import sys; sys.stderr.write('why'); sys.exit(3)"], tmp_path)
