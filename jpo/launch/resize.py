"""Fewer resources for a job that runs: what an engine may offer besides Launcher, and affinity on this machine.

An engine that can change what a running job holds follows `Resizable`; of one that does not, whoever decides says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from jpo.launch.job import Needs

PROC = Path("/proc")


@runtime_checkable
class Resizable(Protocol):
    """An engine that changes what a running job holds: `scontrol update`, the resize of a pod, CPU affinity."""

    def resize(self, engine_id: str, needs: Needs) -> object:
        """Give the job these resources from now on; what `needs` leaves out stays as it is.

        Raises:
            LaunchError: JPO-E753, the engine refuses, in its own words; JPO-E754, it cannot be reached.
        """


def tree(pid: int, parents: Mapping[int, int]) -> tuple[int, ...]:
    """A process and all that descend from it, the first first; `parents`: of every process its parent."""
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each and child not in found]
    return tuple(found)


def parents_now(proc: Path = PROC) -> dict[int, int]:
    """Of every process of this machine its parent; empty where there is no /proc."""
    found = {}
    for status in proc.glob("[0-9]*/stat"):
        try:
            after_name = status.read_text(errors="replace").rpartition(")")[2].split()
            found[int(status.parent.name)] = int(after_name[1])
        except (OSError, ValueError, IndexError):
            continue  # it ended meanwhile
    return found


def confine(pid: int, cpus: int, *, parents: Mapping[int, int] | None = None) -> tuple[int, ...]:
    """Let a process and its descendants, with their threads, run on so many of the CPUs that it may use; returns these.

    Args:
        cpus: at least 1.

    Raises:
        ProcessLookupError: it has ended.
        PermissionError: it is another user's.
    """
    kept = tuple(sorted(os.sched_getaffinity(pid)))[:cpus]
    for each in tree(pid, parents_now() if parents is None else parents):
        for thread in _threads(each):
            try:
                os.sched_setaffinity(thread, kept)
            except ProcessLookupError:
                if each == pid and thread == pid:
                    raise
    return kept


def _threads(pid: int) -> Iterable[int]:
    """A process's threads: those that were started before keep the affinity that they have."""
    try:
        return sorted(int(folder.name) for folder in (PROC / str(pid) / "task").iterdir())
    except (OSError, ValueError):
        return (pid,)
