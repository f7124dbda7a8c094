"""How many CPUs a process may keep busy: as many as it is bound to, and no more than its control groups pay for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from jpo.inventory.cgroup import groups, number, read


def cpus_here(proc: Path, cgroup: Path) -> tuple[float, int, str]:
    """CPUs to use (1.5 is three halves of one), how many the machine has, and what holds the former below the latter.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst (cpu.cfs_quota_us).
    """
    there = len(re.findall(r"^cpu\d+ ", read(proc / "stat") or "", re.MULTILINE)) or os.cpu_count() or 1
    bound = _bound(read(proc / "self" / "status") or "") or there
    paid = min(_quotas(proc, cgroup), default=float(there))
    if paid < bound:
        return paid, there, "cgroup quota"
    return float(bound), max(there, bound), "affinity" if bound < there else ""


def _bound(status: str) -> int:
    """To how many CPUs the process is bound; 0 if it is not told."""
    found = re.search(r"^Cpus_allowed_list:\s*([\d,-]+)$", status, re.MULTILINE)
    spans = re.findall(r"(\d+)(?:-(\d+))?", found[1]) if found else []
    return sum(int(last or first) - int(first) + 1 for first, last in spans)


def _quotas(proc: Path, cgroup: Path) -> Iterator[float]:
    """CPUs that each group pays for, where it has a limit."""
    for group in groups(proc, cgroup, "cpu"):
        quota, _, period = (read(group / "cpu.max") or "").partition(" ")  # v2: "150000 100000" or "max 100000"
        pairs = [(quota, period), (read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us"))]
        for used, of in pairs:
            microseconds, interval = number(used), number(of)
            if microseconds and interval:
                yield microseconds / interval
