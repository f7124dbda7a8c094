"""CPUs that a process may keep busy: as many as it is bound to, and no more than its control groups' quotas."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from jpo.inventory.cgroup import groups, number, read


def cpus_here(proc: Path, cgroup: Path) -> tuple[float, int, str]:
    """CPUs to use (may be a fraction, e.g. 1.5), how many the machine has, and what keeps the former below the latter.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst (cpu.cfs_quota_us).
    """
    existing = len(re.findall(r"^cpu\d+ ", read(proc / "stat") or "", re.MULTILINE)) or os.cpu_count() or 1
    bound = _bound(read(proc / "self" / "status") or "") or existing
    quota = min(_quotas(proc, cgroup), default=float(existing))
    if quota < bound:
        return quota, existing, "cgroup quota"
    return float(bound), max(existing, bound), "affinity" if bound < existing else ""


def _bound(status: str) -> int:
    """Number of CPUs to which the process is bound; 0 if unknown."""
    allowed = re.search(r"^Cpus_allowed_list:\s*([\d,-]+)$", status, re.MULTILINE)
    spans = re.findall(r"(\d+)(?:-(\d+))?", allowed[1]) if allowed else []
    return sum(int(last or first) - int(first) + 1 for first, last in spans)


def _quotas(proc: Path, cgroup: Path) -> Iterator[float]:
    """Quota of each group in CPUs, where it has one."""
    for group in groups(proc, cgroup, "cpu"):
        quota, _, period = (read(group / "cpu.max") or "").partition(" ")  # v2: "150000 100000" or "max 100000"
        pairs = [(quota, period), (read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us"))]
        for used, of in pairs:
            microseconds, interval = number(used), number(of)
            if microseconds and interval:
                yield microseconds / interval
