"""Services that tests of several parts need: a real Prometheus from the distribution, on loopback, gone after the session."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

StartPrometheus = Callable[..., str]


@pytest.fixture(scope="session")
def start_prometheus() -> Iterator[StartPrometheus]:
    """`start_prometheus(folder, config="global: {}") -> url`: a server over folder/data, stopped at the end of the session."""
    missing = [name for name in ("prometheus", "promtool") if shutil.which(name) is None]
    if missing:
        reason = f"{' and '.join(missing)} not found: apt-get install prometheus"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    with ExitStack() as servers:
        yield lambda folder, config="global: {}": servers.enter_context(_prometheus(folder, config))


@contextmanager
def _prometheus(folder: Path, config: str) -> Iterator[str]:
    (folder / "prometheus.yml").write_text(config, encoding="utf-8")
    with (folder / "prometheus.log").open("wb") as log:
        for _ in range(5):  # another process may take the free port first
            url = f"http://127.0.0.1:{_free_port()}"
            process = subprocess.Popen(_command(folder, url), stdout=log, stderr=log)
            try:
                if _ready(url, process):
                    yield url
                    return
            finally:
                process.terminate()
                process.wait(timeout=20)
    pytest.fail("Prometheus did not start: " + (folder / "prometheus.log").read_text(encoding="utf-8")[-2000:])


def _command(folder: Path, url: str) -> list[str]:
    return [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",  # the default of 15 days would delete a backfilled history
        f"--web.listen-address={url.removeprefix('http://')}",
        "--log.level=warn",
    ]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _ready(url: str, process: subprocess.Popen[bytes], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=1) as answer:  # noqa: S310 (our own address)
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return False
