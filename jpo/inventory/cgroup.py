"""CPUs and memory that a process may have: the machine's, and no more than its control groups (v1, v2, both) allow.

Each group, up to the root, may limit both. Within a container /proc names a group that its own /sys/fs/cgroup need not contain:
then the topmost folder there is its own.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def groups(proc: Path, cgroup: Path, controller: str) -> Iterator[Path]:
    """Folders of all groups that may have limits of a controller ("cpu", "memory"), the topmost ones included."""
    yield from (cgroup, cgroup / controller)
    for line in (read(proc / "self" / "cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        steps = [step for step in PurePosixPath(path).parts if step != "/"]
        if ".." in steps:  # a group next to or above the root as seen from here
            continue
        for top in (cgroup / controllers, cgroup / controller) if controllers else (cgroup, cgroup / "unified"):
            yield from (top.joinpath(*steps[:n]) for n in range(len(steps), -1, -1))


def read(file: Path) -> str | None:
    """The text of one of the kernel's files; None where there is none."""
    try:
        return file.read_text("utf-8", "replace").strip()
    except OSError:
        return None


def number(text: str | None) -> float | None:
    """The number of a text if it is above 0; None for "max", -1 (v1: no limit) and everything else."""
    try:
        value = int(text or "")
    except ValueError:
        return None
    return float(value) if value > 0 else None


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
