"""The snippets of docs/reporting.md, taken out and run."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

from jpo.telemetry.csv.log import read_log

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reporting.md").read_text(encoding="utf-8")
MISSING = importlib.util.find_spec("prometheus_client") is None and os.environ.get("CI") != "true"


def snippet(kind: str) -> str:
    (block,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return str(block)


def scrape(port: int) -> str:
    deadline = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_runlog_snippet_leaves_a_run(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JPO_RUN_ID": "snippet", "JPO_RUNLOG_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", snippet("python runlog")], env=environment, check=True)
    run = read_log(tmp_path / "snippet.csv")
    assert (run.status, run.outcome.samples, run.outcome.val_loss, run.outcome.converged) == ("succeeded", 1280, 0.21, True)


@pytest.mark.skipif(MISSING, reason="prometheus_client is not installed: pip install prometheus-client")
def test_the_prometheus_client_snippet_shows_no_validation_loss_before_the_first_validation() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    lines = snippet("python prometheus_client").splitlines()
    assert len(lines) <= 13
    waiting = "\n".join(["input()" * line.startswith("val_loss.") + "\n" + line for line in lines] + ["input()"])
    environment = {**os.environ, "JPO_RUN_ID": "snippet", "JPO_METRICS_PORT": str(port)}
    with subprocess.Popen([sys.executable, "-c", waiting], stdin=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdin is not None
        before = scrape(port)
        process.stdin.write("\n")
        process.stdin.flush()
        deadline = time.monotonic() + 90
        while "jpo_run_end_time_seconds{" not in (after := scrape(port)):
            assert time.monotonic() < deadline
        process.communicate("\n", timeout=120)
    assert "\njpo_samples_total{" in before
    assert "\njpo_val_loss{" not in before
    for metric in ("jpo_run_info", "jpo_run_start_time_seconds", "jpo_samples_total", "jpo_val_loss"):
        assert re.search(rf'^{metric}\{{.*run_id="snippet".*\}} ', after, re.MULTILINE), metric


def test_every_setting_of_runlog_is_documented_and_no_other() -> None:
    code = (ROOT / "jpo/runlog.py").read_text()
    used = set(re.findall(r'"(JPO_[A-Z_]+|POD_[A-Z]+|KUBERNETES_SERVICE_HOST)"', code))
    assert set(re.findall(r"`((?:JPO|POD|KUBERNETES)_[A-Z_]+)`", PAGE)) == used


def test_the_scrape_configuration_on_the_page_is_the_one_that_is_tested() -> None:
    shipped = (ROOT / "examples/kubernetes/prometheus-pushgateway.yml").read_text()
    assert yaml.safe_load(snippet("yaml")) == yaml.safe_load(shipped)
