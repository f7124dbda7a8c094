"""SLURM keeps the contract of launchers, on a real cluster of two nodes; and what only SLURM can do to a run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from launches import Bench, Contract
from slurm_cluster import Cluster

from jpo.errors import LaunchError
from jpo.launch.job import JobState, Needs
from jpo.launch.slurm.launcher import SlurmLauncher
from jpo.launch.slurm.site import Site

SUCCEEDS = """
import os, pathlib
print("hello", os.environ["JPO_RUN_ID"])
folder = pathlib.Path(os.environ["JPO_RUNLOG_DIR"])
(folder / f"{os.environ['JPO_RUN_ID']}.csv").write_text("# run_id=x\\n")
"""
COMMANDS = {
    "succeeds": (sys.executable, "-c", SUCCEEDS),
    "fails": ("sh", "-c", "exit 3"),
    "lasts": ("sleep", "120"),
}


@pytest.fixture
def bench(slurm_cluster: Cluster, tmp_path: Path) -> Bench:
    ledger = tmp_path / "launches"

    def launcher() -> SlurmLauncher:
        return SlurmLauncher(Site(), ledger, slurm_cluster.environment, time.time, grace_seconds=2)

    return Bench(launcher, COMMANDS, ledger, tmp_path, time.time, lambda seconds: time.sleep(min(seconds, 0.2)))


class TestSlurm(Contract):
    """All of the contract."""


def test_a_job_that_waits_gives_back_and_one_that_runs_is_refused_in_slurms_words(bench: Bench) -> None:
    """Two nodes of four CPUs each: the third job waits, and may ask for less."""
    full = Needs(cpus=4, memory_gib=0.25)
    first, second, third = (bench.start(bench.job("lasts", needs=full)) for _ in range(3))
    engine = bench.launcher()
    try:
        wait_for(lambda: [engine.status(entry.engine_id).state for entry in (first, second)] == [JobState.RUNNING] * 2)
        assert engine.status(third.engine_id).state is JobState.WAITING
        with pytest.raises(LaunchError) as error:
            engine.resize(first.engine_id, replace(full, cpus=1))
        assert error.value.code == "JPO-E753"
        assert "no longer pending" in error.value.finding
        engine.resize(third.engine_id, replace(full, memory_gib=0.125))
        assert engine.status(third.engine_id).state is JobState.WAITING
    finally:
        for entry in (first, second, third):
            engine.cancel(entry.engine_id)


def wait_for(fact: Callable[[], bool], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < until
        time.sleep(0.2)
