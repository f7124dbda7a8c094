"""The optional rules for Prometheus: they are valid, and give what JPO looks for."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from jpo.telemetry.prometheus.names import METRICS

RULES = Path(str(files("jpo.telemetry") / "recording_rules.yml"))
TEST = """
rule_files: [{rules}]
tests:
  - interval: 1m
    input_series:
      - series: 'container_cpu_usage_seconds_total{{namespace="ml",pod="p",container="trainer",id="/0",prometheus="a"}}'
        values: "0+120x10"
      - series: 'container_cpu_usage_seconds_total{{namespace="ml",pod="p",container="trainer",id="/0",prometheus="b"}}'
        values: "0+120x10"
      - series: 'container_cpu_usage_seconds_total{{namespace="ml",pod="p"}}'
        values: "0+600x10"
      - series: 'jpo_run_info{{namespace="ml",pod="p",run_id="r",dataset="d",model="m",framework="f",batch_size="8"}}'
        values: "1x10"
    promql_expr_test:
      - expr: {record}
        eval_time: 5m
        exp_samples:
          - labels: '{record}{{namespace="ml",pod="p",run_id="r",dataset="d",model="m",framework="f"}}'
            value: 2
"""


@pytest.fixture
def promtool():
    """Run promtool; its exit code and what it printed."""
    if shutil.which("promtool") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("promtool not found: apt-get install prometheus")
    return lambda *words: subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)


def test_the_rules_are_valid(promtool):
    done = promtool("check", "rules", RULES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_busy_cores_are_counted_once_and_carry_the_run(promtool, tmp_path):
    (record,) = METRICS["recorded_cpu_cores"]
    (tmp_path / "test.yml").write_text(TEST.format(rules=RULES, record=record))
    done = promtool("test", "rules", tmp_path / "test.yml")
    assert done.returncode == 0, done.stdout + done.stderr
