"""When a run that is submitted now would be done, as `jpo suggest` and `jpo predict` say it of a real SLURM."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
from left_running import alive, end, hanging
from slurm_cluster import Cluster

from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry, folder_of, write
from jpo.plugins.launch.project import source, waiting
from jpo.records import Identity

if TYPE_CHECKING:
    from user_project import Project


def test_the_end_counts_what_slurm_says_about_waiting(
    project: Project, slurm_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in slurm_cluster.environment.items():
        monkeypatch.setenv(name, value)
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[launch]\non = "slurm"\n')
    words = ("--exclusive", "--nodes=2", "--time=10", "--parsable", "--output=/dev/null", "--wrap", "sleep 120")
    job = subprocess.run(["sbatch", *words], capture_output=True, text=True, check=True, cwd=project.folder).stdout.strip()
    try:
        document = {"queue": {"wait_seconds": 0.0}}
        for _ in range(20):  # until the job runs
            document = json.loads(project.jpo("suggest", "config.ini", "--no-learn", "--dry-run", "-o", "json").out)
            if document.get("queue", {}).get("wait_seconds", 0) > 60:
                break
            time.sleep(0.5)
        jsonschema.validate(document, json.loads(project.jpo("config", "schema", "--output", "suggestion").out))
        queue = document["queue"]
        assert 60 < queue["wait_seconds"] <= 600
        assert queue["done_at"] > time.time() + queue["wait_seconds"] - 60
        text = project.jpo("suggest", "config.ini", "--no-learn", "--dry-run").out
        assert "Next done by" in text
        assert "says slurm" in text
        (today,) = json.loads(project.jpo("predict", "config.ini", "-o", "json").out)["rows"]
        assert today["queue"]["engine"] == "slurm"
        assert (
            "in the queue"
            in json.loads(project.jpo("predict", "config.ini", "--deadline", "60s", "-o", "json").out)["answer"]["words"]
        )
        offline = json.loads(project.jpo("suggest", "config.ini", "--no-learn", "--dry-run", "--offline", "-o", "json").out)
        assert "queue" not in offline
    finally:
        subprocess.run(["scancel", job], check=True, capture_output=True)


def test_an_engine_that_never_answers_leaves_nothing_running(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten seconds in all is what it may cost a suggestion; here less, to be quick."""
    assert source.LONGEST_SECONDS + 2 * waiting.LONGEST_SECONDS <= 10
    monkeypatch.setattr(source, "LONGEST_SECONDS", 0.7)
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 0.5)
    mark = str(tmp_path / "mark")
    for name in ("sbatch", "squeue", "sacct", "sacctmgr", "scontrol"):
        hanging(tmp_path / "bin" / name, mark)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[launch]\non = "slurm"\n')
    job = LaunchJob("run-9", Identity("digits", "cnn", "pytorch"), ("true",), project.folder, {}, Needs(cpus=1.0))
    folder = folder_of(project.folder / ".jpo" / "launches", "run-9")
    folder.mkdir(parents=True)
    write(folder.parent, Entry(job, "slurm", 0.0, "17:run-9"))
    try:
        answer = project.jpo("suggest", "config.ini", "--no-learn")
        assert answer.code == 0, answer.err
        assert "How run run-9 ended on slurm is not known" in answer.out
        assert "How long runs would wait on slurm is not known" in answer.out
        assert alive(mark) == 0
    finally:
        end(mark)
