"""The stamp of a benchmark: when and where it ran, for the heading of its tables."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]


def stamp() -> str:
    """The date, machine and commit of a measurement."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine}, commit {commit.stdout.strip() or 'unknown'}"
