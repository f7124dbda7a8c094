import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "scenarios.py"


def answer(*options):
    run = subprocess.run([sys.executable, str(SCRIPT), "--quick", *options], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_the_table_has_a_column_for_every_policy_and_the_harm():
    out = answer("--policies", "steering,by-sla")
    head, *rows = [row for row in out.splitlines() if row.startswith("| ")]
    assert head == "|  | jobs | steering | by-sla |"
    assert [row.split(" | ")[0] for row in rows] == ["| all jobs", "| harm"]
    assert "harm of the rule" in out


@pytest.mark.slow
def test_all_policies_play_the_same_jobs():
    pooled = json.loads(answer("--policies", "sac,reinforce", "--json"))["all jobs"]
    assert {name: result["jobs"] for name, result in pooled.items()} == {"sac": 4, "reinforce": 4}
    assert len({result["rule_harm"] for result in pooled.values()}) == 1
