"""The format of a run's CSV log, checked strictly and without JPO's own reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

HEAD = ["run_id", "dataset", "model", "framework", "batch_size", "learning_rate", "num_layers", "epochs", "cpus", "gpus", "start"]
COLUMNS = "time,epoch,samples,train_loss,val_loss"
TRAILER = ["end", "status", "converged", "cpu_seconds", "memory_bytes"]


@dataclass
class Log:
    facts: dict[str, str]
    rows: list[list[float]]


@pytest.fixture(scope="session")
def read_log() -> Callable[[Path], Log]:
    return read


def read(path: Path) -> Log:
    head, columns, body = path.read_text(encoding="utf-8").partition(f"{COLUMNS}\n")
    lines = body.splitlines()
    rows, trailer = lines[: -len(TRAILER)], lines[-len(TRAILER) :]
    facts = dict(re.fullmatch(r"# (\w+)=(\S+)", line).groups() for line in [*head.splitlines(), *trailer])  # type: ignore[union-attr]
    assert columns, "no header row"
    assert body.endswith("\n"), "the last line is cut"
    assert list(facts) == HEAD + TRAILER
    assert facts["learning_rate"] == repr(float(facts["learning_rate"]))
    assert facts["status"] in {"succeeded", "failed", "diverged", "stopped"}
    assert facts["converged"] in {"true", "false"}
    return Log(facts, [[float(value) for value in row.split(",")] for row in rows])
