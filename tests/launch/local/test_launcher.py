"""This machine as an engine: the contract, then attacks. Runs are real processes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from jpo.launch.local.capacity import Capacity, LocalGpu
from jpo.launch.local.launcher import LocalLauncher
from tests.launches import Bench, Contract

HERE = Capacity((LocalGpu("GPU-a", 0.1), LocalGpu("GPU-b", 0.2)), "", 4.0, 8.0)
LOG = """
import os, pathlib, time
print("hello")
now = time.time()
text = f"# run_id={os.environ['JPO_RUN_ID']}\\n# dataset=digits\\n# model=cnn\\n# framework=pytorch\\n# start={now - 1}\\n"
text += f"time,epoch,samples,train_loss,val_loss\\n{now},1,10,0.5,0.6\\n# end={now}\\n# status=succeeded\\n"
pathlib.Path(os.environ["JPO_RUNLOG_DIR"], os.environ["JPO_RUN_ID"] + ".csv").write_text(text)
"""
COMMANDS = {
    "succeeds": (sys.executable, "-c", LOG),
    "fails": (sys.executable, "-c", "raise SystemExit(3)"),
    "lasts": (sys.executable, "-c", "import time; time.sleep(90)"),
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    ledger = tmp_path / "launches"

    def launcher() -> LocalLauncher:
        return LocalLauncher(ledger, lambda: HERE, os.environ, detached=True, leases_in=tmp_path / "leases")

    return Bench(launcher, COMMANDS, ledger, tmp_path, time.time, time.sleep)


class TestLocal(Contract):
    pass
