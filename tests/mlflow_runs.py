"""Runs logged by MLflow's own client, in a process of its own: importing it takes two seconds and starts threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "MLFLOW_ALLOW_FILE_STORE": "true"}
"""It would report its own use, and warn of its file store."""
PROGRAM = """
import json, sys
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
for uri, experiment, runs in json.load(sys.stdin):
    client = MlflowClient(uri)
    number = client.create_experiment(experiment)
    for given in runs:
        tags = given.get("tags", {})
        run = client.create_run(number, start_time=given["start"], run_name=given["name"], tags=tags).info.run_id
        points = [Metric(key, float(value), at, step) for key, at, step, value in given["metrics"]]
        client.log_batch(run, points, [Param(name, str(value)) for name, value in given["params"].items()])
        if given["status"] != "RUNNING":
            client.set_terminated(run, given["status"], end_time=given["end"])
        if given.get("deleted"):
            client.delete_run(run)
"""


def log_runs(*stores: tuple[str, str, Sequence[Mapping[str, object]]]) -> None:
    """Log runs to (URI, experiment): name, start, end in milliseconds, status, params, metrics as key, time, step, value."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(stores), text=True, capture_output=True, env={**os.environ, **QUIET}
    )
    assert done.returncode == 0, done.stderr[-2000:]


def server_command(folder: Path, url: str) -> list[str]:
    """A tracking server over a database in the folder."""
    port = url.rpartition(":")[2]
    off = [*(f"{name}={value}" for name, value in QUIET.items()), "MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false"]
    return [
        *("env", *off, sys.executable, "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"),
        *("--artifacts-destination", str(folder / "artifacts"), "--host", "127.0.0.1", "--port", port, "--workers", "1"),
    ]
