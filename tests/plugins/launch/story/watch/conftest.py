"""Logs as training jobs write them, whole or still growing."""

from __future__ import annotations

import time

import pytest

SLOW = """
import os, time
from jpo.runlog import RunLog
values = {"batch_size": 16, "learning_rate": 0.01, "epochs": 40, "cpus": 2}
with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters=values, settings=os.environ) as log:
    for epoch in range(1, 41):
        time.sleep(PAUSE)
        log.batch(100)
        log.epoch(epoch, 1 / epoch, 0.1 + 1 / epoch)
    log.end("succeeded")
"""


@pytest.fixture
def write(empty):
    """`write(name, epochs_done, seconds_per_epoch=10, end=None, ...)`: the log of a run of 40 epochs that began so long ago."""

    def made(name, done, seconds=10.0, *, end=None, final=0.1, batch_size=16, start=None, losses=None, samples=1500):
        start = time.time() - done * seconds - 1 if start is None else start
        head = {"run_id": name, "dataset": "digits", "model": "cnn", "framework": "pytorch", "batch_size": batch_size}
        head |= {"learning_rate": 0.01, "epochs": 40, "cpus": 2, "start": start}
        rows = [
            f"{start + n * seconds},{n},{n * samples},0.2,{(losses or (lambda n: final + 1 / n - 1 / 40))(n)}"
            for n in range(1, done + 1)
        ]
        closing = [f"# end={start + done * seconds}", f"# status={end}"] if end else []
        columns = "time,epoch,samples,train_loss,val_loss"
        lines = [*(f"# {key}={value}" for key, value in head.items()), columns, *rows, *closing]
        path = empty.folder / "runs" / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return path

    return made


@pytest.fixture
def earlier(empty, write):
    """Six runs of 40 epochs that ended well, on record."""
    for number in range(6):
        write(
            f"past-{number}",
            40,
            10 + 0.1 * (number % 2),
            end="succeeded",
            final=0.1 + 0.0005 * number,
            start=1_700_000_000 + 1000 * number,
        )
    assert empty.jpo("observe").code == 0
    return empty
