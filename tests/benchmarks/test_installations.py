import json
import subprocess
import sys
from pathlib import Path

import pytest

from jpo.simulate.installations import KINDS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "installations.py"


def answer(*options):
    run = subprocess.run([sys.executable, str(SCRIPT), "--quick", *options], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_the_table_has_a_row_for_every_kind_and_side():
    out = answer()
    rows = [row.split(" | ")[:2] for row in out.splitlines() if row.startswith("| **")]
    assert rows == [[f"| **{kind}**", side] for kind in KINDS for side in ("alone", "informed", "sac")]
    assert len({row.count("|") for row in out.splitlines() if row.startswith("|")}) == 1


@pytest.mark.slow
def test_who_knows_the_installation_plays_the_same_jobs_and_where_it_is_none_the_same_runs():
    figures = json.loads(answer("--json", "--kinds", "none", "batch-limit", "--explore", "on"))
    as_simulated, limited = figures["none"]["informed"], figures["batch-limit"]["informed"]
    assert as_simulated["ratio"] == 1.0
    assert as_simulated["cost"] == as_simulated["rule"]
    assert limited["runs"] == as_simulated["runs"] == 4
    assert limited["failed"] <= limited["rule_failed"]
