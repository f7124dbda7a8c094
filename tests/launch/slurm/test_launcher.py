"""SLURM keeps the contract of launchers, on a real cluster of two nodes; and what only SLURM can do to a run."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from launches import Bench, Contract
from slurm_cluster import Cluster

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
