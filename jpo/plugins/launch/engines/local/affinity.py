"""CPU affinity of processes that run: fewer CPUs for all of their threads, and for what they start from now on. Linux."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

ROUNDS = 3
"""How often threads that came meanwhile are looked for again."""


def confine(pids: Collection[int], cpus: int) -> tuple[int, ...]:
    """Let processes run on so many (at least 1) of the CPUs that the first may use; returns these, empty where none lives."""
    kept: tuple[int, ...] = ()
    for pid in pids:
        with suppress(ProcessLookupError, FileNotFoundError):
            kept = kept or tuple(sorted(os.sched_getaffinity(pid)))[:cpus]
            for _ in range(ROUNDS):
                for thread in Path(f"/proc/{pid}/task").iterdir():  # setting that of the first leaves older ones as they are
                    with suppress(ProcessLookupError):
                        os.sched_setaffinity(int(thread.name), kept)
    return kept


def most_cpus(pids: Collection[int]) -> int:
    """How many CPUs the first of some processes that still lives may use; 0: none of them lives."""
    for pid in pids:
        with suppress(ProcessLookupError):
            return len(os.sched_getaffinity(pid))
    return 0
