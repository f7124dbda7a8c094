"""CPUs that a run does not use any more go to another one while it goes on: real processes, `jpo run` and `jpo watch --apply`."""

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jpo.history import open_store
from jpo.history.events import ADJUSTED
from jpo.plugins.launch.engines.local import leases
from jpo.plugins.launch.engines.local.capacity import CPU, cpu_names
from jpo.plugins.launch.engines.local.processes import marked
from jpo.plugins.launch.engines.local.state_file import read_state
from jpo.plugins.launch.watching import account
from jpo.project.load import load

ROOT = Path(__file__).parents[5]
FIRST = """
import hashlib, os, threading, time
from pathlib import Path
from jpo.runlog import RunLog

def busy():
    while not Path("calm").exists():
        hashlib.sha256(bytes(1 << 20)).digest()  # without the interpreter's lock

threads = [threading.Thread(target=busy) for _ in range(4)]
parameters = {"epochs": 100_000, "cpus": len(os.sched_getaffinity(0))}
with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters=parameters, settings=os.environ) as log:
    for thread in threads:
        thread.start()
    print("busy", flush=True)
    for thread in threads:
        thread.join()
    epoch = 0
    while not Path("enough").exists():
        time.sleep(0.2)
        epoch += 1
        log.epoch(epoch, train_loss=1.0, val_loss=1.0)
"""
SECOND = "import os\nprint(sorted(os.sched_getaffinity(0)))\n"


def until(done, what):
    for _ in range(2400):
        if found := done():
            return found
        time.sleep(0.05)
    raise AssertionError(f"never: {what}")


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine lets one CPU be used")
def test_cpus_that_a_run_releases_are_those_of_the_next_one(empty, monkeypatch):
    monkeypatch.setattr(leases, "usual_folder", lambda: empty.folder / "leases")  # no other test has any of these
    every, config, ledger = len(cpu_names()), empty.config.read_text(), empty.folder / ".jpo/launches"
    (empty.folder / "train.py").write_text(FIRST)
    (empty.folder / "other.py").write_text(SECOND)
    empty.config.write_text(config.replace("cpus = 2", f"cpus = {every}"))
    assert empty.jpo("run", "--detach", "--run-id", "first", "train.py").code == 0
    output, free = ledger / "first/output.log", lambda: leases.free(leases.usual_folder(), cpu_names())
    try:
        until(lambda: output.exists() and "busy" in output.read_text(), "it is busy")
        assert free() == []
        (empty.folder / "calm").touch()
        watcher = subprocess.Popen(
            [sys.executable, "-m", "jpo", "watch", "first", "--apply", "--every", "1"],
            cwd=empty.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
        )
        try:
            (made,) = until(lambda: [each for each in account.read(ledger, "first") if each.applied], "a release")
        finally:  # from here on nobody returns them
            watcher.send_signal(signal.SIGINT)
            watcher.wait()
        assert (made.release.resource, made.release.given, made.release.kept) == ("cpus", every, 1)
        assert len(until(free, "leases are given back")) == every - 1
        state = read_state(ledger / "first")
        kept = {frozenset(os.sched_getaffinity(pid)) for pid in marked(state.token) if pid != state.supervisor}
        empty.config.write_text(config.replace("cpus = 2", f"cpus = {every - 1}"))
        assert "succeeded" in empty.jpo("run", "--run-id", "second", "other.py").out
    finally:
        (empty.folder / "calm").touch()
        (empty.folder / "enough").touch()
    others = ast.literal_eval((ledger / "second/output.log").read_text())
    assert {*others} == {int(name.removeprefix(CPU)) for name in cpu_names()} - {*next(iter(kept))}
    assert len(kept) == 1
    assert empty.jpo("watch", "first").code == 0  # to its end
    with open_store(load(empty.config, None, {}, {}).store_url) as store:
        assert [record.kind for record in store.audit_records()].count(ADJUSTED) == 1
