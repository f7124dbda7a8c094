"""kill -9 of the real command, with real processes on this machine, again and again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from jpo.history import open_store, verify
from jpo.plugins.launch.ledger import entries

ROOT = Path(__file__).parents[5]
SCRIPT = f"""\
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from jpo.runlog import RunLog
with open("started", "a") as file:
    file.write(f"{{os.environ['JPO_RUN_ID']}} {{os.getpid()}}\\n")
parameters = {{"batch_size": int(os.environ["JPO_BATCH_SIZE"])}}
with RunLog(dataset="digits", model="cnn", framework="torch", parameters=parameters, settings=dict(os.environ)) as log:
    for epoch in (1, 2, 3):
        time.sleep(0.2)
        log.batch(100)
        log.epoch(epoch, 1 / epoch, 1 / epoch)
"""
CONFIG = """\
[workload]
dataset = digits
model = cnn
framework = torch
[training]
batch_size = 64
"""
COMMAND = ("optimize", "config.ini", "--name", "job", "--runs", "2", "--baseline", "1", "--no-learn", "--offline", "-o", "json")
DELAYS = (0.7, 1.0, 1.4, 1.9, 2.5)
"""Seconds after which the command is killed: while it starts, launches, follows, records, suggests."""


def begun(folder: Path) -> subprocess.Popen[str]:
    jpo = (sys.executable, "-m", "jpo", *COMMAND, "--", sys.executable, "train.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(jpo, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def alive(pid: int) -> bool:
    try:
        return "train.py" in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def in_last_attempt(folder: Path) -> bool:
    """Whether a run goes on that is made for the third time: on a busy machine all kills may meet the same one."""
    ledger = folder / ".jpo" / "launches"
    return any(entry.end is None and entry.job.run_id.endswith(".3") for entry in entries(ledger))


def test_after_every_kill_it_goes_on_nothing_starts_twice_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "train.py").write_text(SCRIPT)
    for delay in DELAYS:
        process = begun(tmp_path)
        time.sleep(delay)
        while in_last_attempt(tmp_path) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    process = begun(tmp_path)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    (job,) = json.loads(out)["jobs"]
    assert [run["status"] for run in job["runs"] if not run["made_again"]] == ["succeeded"] * 3
    started = [line.split() for line in (tmp_path / "started").read_text().splitlines()]
    ids = [run_id for run_id, _ in started]
    assert len(ids) == len(set(ids))
    assert {run["run_id"] for run in job["runs"]} >= set(ids)
    assert not any(alive(int(pid)) for _, pid in started)
    ledger = [*entries(tmp_path / ".jpo" / "launches")]
    assert all(entry.recorded and entry.end for entry in ledger)
    with open_store(f"sqlite:///{tmp_path}/.jpo/jpo.db", read_only=True) as store:
        assert [made.suggestion_id for made in store.suggestions_of()] == ["job-1", "job-2", "job-best2"]
        assert verify(store).ok


def test_interrupted_it_ends_with_130_and_leaves_nothing_running(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "train.py").write_text(SCRIPT.replace("sleep(0.2)", "sleep(30)"))
    process = begun(tmp_path)
    until = time.monotonic() + 60
    while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text().endswith("\n"):
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 130, err
    assert not alive(int((tmp_path / "started").read_text().split()[1]))
    (entry,) = entries(tmp_path / ".jpo" / "launches")
    assert entry.end is not None
    assert entry.recorded
