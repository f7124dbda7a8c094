"""Control groups (v1, v2, both) of this process: each of them, up to the root, may limit CPUs and memory.

Within a container /proc names a group that its own /sys/fs/cgroup need not contain: then the topmost folder there is its own.
"""

from __future__ import annotations

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
