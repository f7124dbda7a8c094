"""The whole spine on real input: a real training job, scraped by a real Prometheus, then `jpo suggest`."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
RUNS = [(16, 0.003), (64, 0.03), (64, 0.03)]
"""(batch size, learning rate) of the runs, one after the other; the first is what config.ini holds today."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def run_job(folder: Path, run_id: str, batch_size: int, learning_rate: float, port: int) -> dict[str, float]:
    """Train once for real, until Prometheus has seen the end; what the job itself wrote down."""
    text = (folder / "config.ini").read_text()
    text = re.sub(r"(?m)^(batch_size\s*=) \S+", rf"\1 {batch_size}", text)
    text = re.sub(r"(?m)^(learning_rate\s*=) \S+", rf"\1 {learning_rate}", text)
    text = re.sub(r"(?m)^(cpus\s*=) \S+", r"\1 1", text)
    text = re.sub(r"(?m)^(target_accuracy\s*=) \S+", r"\1 0.9", text)  # some epochs show what a dozen would
    (folder / "config.ini").write_text(text)
    command = [sys.executable, str(DIGITS / "train.py"), str(folder / "config.ini"), "--run-id", run_id]
    settings = {"JPO_RUNLOG_DIR": str(folder / "logs"), "JPO_METRICS_PORT": str(port), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, env={**os.environ, **settings}, check=False)
    assert done.returncode == 0, done.stderr
    log = (folder / "logs" / f"{run_id}.csv").read_text().split("\n")
    head = dict(re.findall(r"^# (\w+)=(.*)$", "\n".join(log), re.MULTILINE))
    rows = list(csv.reader(line for line in log if line[:1].isdigit()))
    return {"seconds": float(head["end"]) - float(head["start"]), "samples": float(rows[-1][2]), "val_loss": float(rows[-1][4])}


def jpo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JPO_AGENT__LEARN_BUDGET": "0"}
    return subprocess.run(
        [sys.executable, "-m", "jpo", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_runs_scraped_by_prometheus_become_a_suggestion(tmp_path: Path, start_prometheus: Callable[..., str]) -> None:
    port, folder = free_port(), tmp_path / "job"
    folder.mkdir()
    shutil.copy(DIGITS / "config.ini", folder)
    (tmp_path / "server").mkdir()
    scrape = f"{{job_name: digits, scrape_interval: 1s, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}"
    url = start_prometheus(tmp_path / "server", f"scrape_configs: [{scrape}]")

    truth = {f"run-{n}": run_job(folder, f"run-{n}", *values, port) for n, values in enumerate(RUNS)}
    config = re.sub(r"(?m)^(batch_size\s*=) \S+", r"\1 16", (folder / "config.ini").read_text())
    config = re.sub(r"(?m)^(learning_rate\s*=) \S+", r"\1 0.003", config)
    (folder / "config.ini").write_text(config)
    time.sleep(1)  # the last scrape is stored
    answer = jpo(folder, "suggest", "config.ini", "--strict", "-o", "json", "--prometheus-url", url)

    assert answer.returncode == 0, answer.stderr
    suggestion = json.loads(answer.stdout)
    assert suggestion["evidence"]["runs_used"] == len(RUNS)
    assert suggestion["decided_by"] in ("sac", "belief")
    assert suggestion["forecast"]["duration_seconds"]["now"] is not None
    assert suggestion["evidence"]["prometheus"]["requests"] <= 13
    known = {run["run_id"]: run for run in json.loads(jpo(folder, "history", "--format", "json").stdout)["runs"]}
    for n, (batch_size, learning_rate) in enumerate(RUNS):
        run, expected = known[f"run-{n}"], truth[f"run-{n}"]
        assert run["status"] == "succeeded"
        assert (run["parameters"]["batch_size"], run["parameters"]["learning_rate"]) == (batch_size, learning_rate)
        assert run["outcome"]["duration_seconds"] == pytest.approx(expected["seconds"], rel=0.02)
        assert run["outcome"]["samples"] == pytest.approx(expected["samples"], rel=0.02)
        assert run["outcome"]["val_loss"] == expected["val_loss"]
    written = (folder / "config.ini").read_text()
    for change in suggestion["changes"]:
        config = re.sub(rf"(?m)^({change['key'].partition('.')[2]}\s*=) \S+", rf"\1 {change['new_text']}", config)
    assert written == config, "only the suggested values differ"
    assert jpo(folder, "audit", "verify").returncode == 0

    again = jpo(folder, "suggest", "config.ini", "--strict", "--dry-run", "-o", "json", "--prometheus-url", url)
    assert json.loads(again.stdout)["evidence"]["runs_used"] == len(RUNS), "the same runs are not counted twice"
