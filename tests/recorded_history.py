"""A history of training runs in a real Prometheus and a real VictoriaMetrics, made here."""

from __future__ import annotations

import hashlib
import math
import re
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jpo.records import Identity

DIGITS = Identity("digits", "cnn", "pytorch")
AWKWARD = Identity('o\'brien "x"', "back\\slash{a=~b}", "line\nbreak")
SINCE = 1_700_000_000.0
"""Runs lie in the six hours after it."""
UNTIL = SINCE + 6 * 3600
RESTART = 0.5
"""Share of a restarted run after which its counters begin again at zero."""


@dataclass(frozen=True)
class Truth:
    """A run as it really was: one line of the table below."""

    run_id: str
    start: float
    """Seconds after SINCE."""
    seconds: float = 900.0
    identity: Identity = DIGITS
    batch_size: str = "64"
    status: str | None = "succeeded"
    val_loss: float | None = 0.25
    epochs_done: int = 3
    tells: bool = True
    """Whether it exports its start and its end."""
    ends: bool = True
    restarted: bool = False
    gap: bool = False
    step: float = 15.0
    target: dict[str, str] = field(default_factory=lambda: {"job": "train", "instance": "a:8000"})

    @property
    def end(self) -> float:
        return self.start + self.seconds


HISTORY = (
    Truth("straddling", -600),
    Truth("plain", 600),
    Truth("restarted", 1800, restarted=True, status="stopped"),
    Truth("diverged", 3000, status="failed", val_loss=math.nan),
    Truth("failed", 4200, status="failed", val_loss=0.0, epochs_done=0),
    Truth("pair", 5400),
    Truth("pair", 5400, target={"job": "train", "instance": "a:8000", "replica": "b"}),
    Truth("silent", 6600, status=None, tells=False),
    Truth("vanished", 7800, status=None, tells=False, epochs_done=1),
    Truth("gap", 9000, seconds=1800, gap=True),
    Truth("killed", 11400, status="oom_killed", epochs_done=1),
    Truth("text", 12600, batch_size="auto"),
    Truth("twice", 13200, batch_size="32"),
    Truth("twice", 13200, batch_size="64"),
    Truth("awkward|.*'\"\\", 600, identity=AWKWARD),
    # Six hours after SINCE these are not over:
    Truth("slow", 6 * 3600 - 1840, seconds=1440, step=120, tells=False, status=None),
    Truth("going", 6 * 3600 - 700, ends=False),
    Truth("again", 16000, status="failed"),
    Truth("again", 6 * 3600 - 600, ends=False, target={"job": "train", "instance": "b:8000"}),
)


@dataclass(frozen=True)
class History:
    url: str
    since: float = SINCE
    runs: tuple[Truth, ...] = HISTORY


@pytest.fixture(scope="session", params=["prometheus", "victoria"])
def serve(request, shared, tmp_path_factory) -> Callable[[str], str]:
    """`serve(text) -> url`: a server that holds these samples (OpenMetrics without its last line); tests run on both kinds."""
    start = request.getfixturevalue(f"start_{request.param}")
    filled = {"prometheus": _backfilled, "victoria": _imported}[request.param]

    def serve(text: str) -> str:
        name = f"{request.param}-{hashlib.sha256(text.encode()).hexdigest()}"
        return str(shared(name, lambda: filled(start, tmp_path_factory.mktemp(request.param), text)))

    return serve


def _backfilled(start, folder: Path, text: str) -> str:
    (folder / "history.om").write_text(text + "# EOF\n", encoding="utf-8")
    blocks = ["promtool", "tsdb", "create-blocks-from", "--max-block-duration=162h", "openmetrics", "--quiet"]
    subprocess.run([*blocks, folder / "history.om", folder / "data"], check=True, capture_output=True, timeout=60)
    return str(start(folder))


def _imported(start, folder: Path, text: str) -> str:
    url = str(start(folder))
    milliseconds = re.sub(r" (\d+)\.(\d{3})$", r" \1\2", text, flags=re.MULTILINE)
    for path, body in (("/api/v1/import/prometheus", milliseconds.encode()), ("/internal/force_flush", None)):
        urllib.request.urlopen(url + path, data=body, timeout=30).close()  # noqa: S310 (our own address)
    return url


@pytest.fixture(scope="session")
def history(serve) -> History:
    """A server that holds HISTORY, and the truth about it."""
    return History(serve("".join(line for run in HISTORY for line in _lines(run))))


def _lines(run: Truth) -> Iterator[str]:
    last = run.end + 2 * run.step if run.ends and run.tells else run.end if run.ends else UNTIL - SINCE
    for i in range(int((last - run.start) / run.step) + 1):
        elapsed = i * run.step
        in_gap = run.gap and 0.4 < elapsed / run.seconds < 0.8
        if not in_gap:
            for name, labels, value in _report(run, min(elapsed, run.seconds), over=elapsed >= run.seconds):
                yield f"{name}{_label_set(run, labels)} {value!r} {SINCE + run.start + elapsed:.3f}\n"


def _report(run: Truth, elapsed: float, over: bool) -> Iterator[tuple[str, dict[str, str], float]]:
    """What the run exports `elapsed` seconds after its start."""
    restart = run.seconds * RESTART
    counted = elapsed - restart if run.restarted and elapsed >= restart else elapsed
    known = {"batch_size": run.batch_size, "learning_rate": "0.01", "epochs": "3", "cpus": "2"}
    yield "jpo_run_info", {**known, "optimizer": "sgd", "dropout": "0.1", "wd": "1e-4", "warmup": "none"}, 1.0
    yield "jpo_samples_total", {}, 100.0 * counted
    yield "jpo_cpu_seconds_total", {}, 1.5 * counted
    yield "jpo_memory_bytes", {}, 2**30 * (2.0 if elapsed > run.seconds / 2 else 1.0)
    yield "jpo_epoch", {}, float(math.floor(run.epochs_done * elapsed / run.seconds))
    yield "jpo_train_loss", {}, 1.0 - 0.5 * elapsed / run.seconds
    if run.val_loss is not None and elapsed > run.seconds / 2:
        yield "jpo_val_loss", {}, run.val_loss if elapsed > 0.75 * run.seconds or math.isfinite(run.val_loss) else 0.3
    if run.tells:
        yield "jpo_run_start_time_seconds", {}, SINCE + run.start
    if run.restarted and restart - run.step <= elapsed < restart:
        yield "jpo_run_status", {"status": "failed"}, 1.0  # of the first attempt
    if over and run.ends:
        if run.status:
            yield "jpo_run_status", {"status": run.status}, 1.0
            yield "jpo_converged", {}, float(run.status == "succeeded")
        if run.tells:
            yield "jpo_run_end_time_seconds", {}, SINCE + run.end


def _label_set(run: Truth, labels: dict[str, str]) -> str:
    identity = {"dataset": run.identity.dataset, "model": run.identity.model, "framework": run.identity.framework}
    everything = {"run_id": run.run_id, **identity, **run.target, **labels}
    escaped = {k: v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for k, v in everything.items()}
    return "{" + ",".join(f'{k}="{v}"' for k, v in escaped.items()) + "}"
