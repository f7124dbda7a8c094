"""`jpo run --on slurm`, on a real cluster: one history serves this machine and SLURM, and refusals are SLURM's own words."""

from __future__ import annotations

import json

import pytest

TRAIN = """
import os, time
from jpo.runlog import RunLog
values = {"batch_size": os.environ["JPO_BATCH_SIZE"], "learning_rate": os.environ["JPO_LEARNING_RATE"]}
with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters=values, settings=os.environ) as log:
    for epoch in (1, 2, 3):
        time.sleep(0.1)
        log.batch(100)
        log.epoch(epoch, val_loss=1 / epoch)
"""


@pytest.fixture
def ready(empty, slurm_cluster, monkeypatch):
    (empty.folder / "train.py").write_text(TRAIN)
    monkeypatch.setenv("SLURM_CONF", slurm_cluster.environment["SLURM_CONF"])
    return empty


def shape(run):
    """What a run on record is made of, without its measured amounts."""
    kinds = {name: value is not None for name, value in run["outcome"].items()}
    return run["workload"], run["parameters"], run["status"], kinds


def test_one_history_serves_this_machine_and_slurm(ready):
    assert ready.jpo("run", "train.py", "--run-id", "here-1").code == 0
    assert ready.jpo("run", "train.py", "--run-id", "slurm-1", "--on", "slurm").code == 0
    assert ready.jpo("run", "train.py", "--run-id", "slurm-1", "--on", "slurm").code == 0  # told again, not started again
    runs = {run["run_id"]: run for run in json.loads(ready.jpo("history", "--format", "json").out)["runs"]}
    assert sorted(runs) == ["here-1", "slurm-1"]
    assert shape(runs["here-1"]) == shape(runs["slurm-1"])
    assert "2 finished runs used" in ready.jpo("suggest", "--dry-run").out


def test_a_run_without_a_log_has_the_same_form_from_both(ready):
    for run_id, engine in (("here-2", "local"), ("slurm-2", "slurm")):
        assert ready.jpo("run", "--run-id", run_id, "--on", engine, "--", "sh", "-c", "sleep 1; exit 3").code == 7
    runs = {run["run_id"]: run for run in json.loads(ready.jpo("history", "--format", "json").out)["runs"]}
    assert shape(runs["here-2"]) == shape(runs["slurm-2"])
    assert runs["slurm-2"]["status"] == "failed"


def test_a_refusal_is_one_line_in_slurms_words(ready):
    (ready.folder / "jpo.toml").write_text('[launch.slurm]\npartition = "nope"\n')
    refused = ready.jpo("run", "train.py", "--on", "slurm")
    assert refused.code == 7
    assert "Invalid partition name specified; set partition in [launch.slurm]" in refused.err
    assert refused.err.count("\n") == 1
    (ready.folder / "jpo.toml").write_text('[launch.slurm]\noptions = ["--wrap=true"]\n')
    assert ready.jpo("run", "train.py", "--on", "slurm").code == 2
