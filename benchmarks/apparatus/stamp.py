"""The stamp of a benchmark: when and where it ran, for the heading of its tables."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("jpo", "constraints", "benchmarks")
"""What figures depend on: a commit of tables alone makes none of them old."""


def stamp() -> str:
    """The date, machine and commit of a measurement."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine}, commit {commit()}"


def commit() -> str:
    """The last one that changed the code, with a + where it has been changed since."""
    last, changed = _git("log", "-1", "--format=%h"), _git("status", "--porcelain")
    return f"{last}{'+' if changed else ''}" if last else "unknown"


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words, "--", *CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
