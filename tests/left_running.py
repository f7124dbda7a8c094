"""Processes that a test must not leave running, known by an argument of theirs."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

FOREVER = "import time; time.sleep(600)"
HANGS = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {FOREVER!r}, sys.argv[1]]).wait()"
"""A program that waits for a program of its own."""


def hanging(file: Path, mark: str) -> Path:
    """A program that never answers, whatever it is asked, and has started another one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!{sys.executable}\nimport sys\nsys.argv = ['', {mark!r}]\n{HANGS}\n")
    file.chmod(0o755)
    return file


def alive(mark: str) -> int:
    """How many processes have the mark among their arguments, once there are none or seconds have gone by."""
    until = time.monotonic() + 5
    while (found := _alive(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    return len(found)


def end(mark: str) -> None:
    """End those that are left."""
    for pid in _alive(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _alive(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found
