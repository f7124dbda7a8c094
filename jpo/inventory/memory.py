"""Memory that a process may have: the machine's, and no more than its control groups allow."""

from __future__ import annotations

import re
from pathlib import Path

from jpo.inventory.cgroup import groups, number, read

BYTES_PER_GIB = 2.0**30
LIMITS = ("memory.max", "memory.limit_in_bytes")
"""Of cgroup v2 and v1; without a limit the former contains "max", and the latter a number beyond every machine."""


def memory_here(proc: Path, cgroup: Path) -> tuple[float | None, float | None]:
    """GiB to use, and GiB that the machine has; None: unknown."""
    total = re.search(r"^MemTotal:\s*(\d+) kB$", read(proc / "meminfo") or "", re.MULTILINE)
    existing = int(total[1]) * 1024 / BYTES_PER_GIB if total else None
    limits = [number(read(group / name)) for group in groups(proc, cgroup, "memory") for name in LIMITS]
    if existing is None:
        return None, None
    return min([existing, *(limit / BYTES_PER_GIB for limit in limits if limit)]), existing
