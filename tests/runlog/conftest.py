"""What is between a training job and Prometheus where it cannot be scraped itself: Debian's servers, on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served(program: str, options: list[str], log: Path) -> Iterator[str]:
    """Host and port of a server that runs as long as the context."""
    if shutil.which(program) is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{program} not found: apt-get install {program}")
    for _ in range(5):  # another process may take the free port first
        address = f"127.0.0.1:{free_port()}"
        with log.open("wb") as output:
            process = subprocess.Popen([program, f"--web.listen-address={address}", *options], stdout=output, stderr=output)
        try:
            if answers(f"http://{address}/metrics", process):
                yield address
                return
        finally:
            process.terminate()
            process.wait(timeout=120)
    pytest.fail(f"{program} did not start: {log.read_text(encoding='utf-8')[-2000:]}")


def answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 (our own address)
                return True
        except OSError:
            time.sleep(0.05)
    return False


@pytest.fixture(scope="session")
def servers() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="session")
def pushgateway(servers: ExitStack, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Host and port of a Pushgateway that remembers nothing."""
    log = tmp_path_factory.mktemp("pushgateway") / "log"
    return servers.enter_context(served("prometheus-pushgateway", ["--persistence.file="], log))


@pytest.fixture(scope="session")
def node_exporter(servers: ExitStack, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Host and port of a node_exporter with the textfile collector alone, and its folder."""
    folder = tmp_path_factory.mktemp("node_exporter")
    (folder / "textfiles").mkdir()
    options = ["--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={folder / 'textfiles'}"]
    return servers.enter_context(served("prometheus-node-exporter", options, folder / "log")), folder / "textfiles"
