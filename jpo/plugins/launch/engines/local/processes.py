"""Processes of a run: found below its supervisor, or by their mark once that is gone; measured and ended. Linux' /proc.

Supervisors on instances of AWS have a copy of this file: standard library only, Python 3.7 or newer.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

MARK = "JPO_LAUNCH"
"""Variable in the environment of every process of a run; its value is the run's token."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""linux/prctl.h."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
CGROUPS = "/sys/fs/cgroup"
ROUNDS, ROUND_SECONDS = 50, 0.1
"""How often processes that are to end are looked for again: they may fork meanwhile."""
LOOKS = 3
"""How often threads that came while a run got fewer CPUs are looked for again."""


def adopt_orphans() -> None:
    """Let what the children of this process leave behind become its own children (Linux)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Let this process be killed when its parent ends (Linux)."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def below(ancestor: int) -> list[int]:
    """The processes that descend from one, itself not among them; zombies are none."""
    children: dict[int, list[int]] = {}
    for pid, parent, state in _all():
        if state != "Z":
            children.setdefault(parent, []).append(pid)
    found, rest = [], [ancestor]
    while rest:
        following = children.get(rest.pop(), [])
        found += following
        rest += following
    return found


def marked(token: str) -> list[int]:
    """The processes that carry the mark of a run, and those below them, which may have overwritten it."""
    mark = f"{MARK}={token}".encode()
    found = dict.fromkeys(pid for pid, _, state in _all() if state != "Z" and mark in _environment(pid).split(b"\0"))
    found.update(dict.fromkeys(pid for one in list(found) for pid in below(one)))
    return [pid for pid in found if pid != os.getpid()]


def kill_marked(token: str) -> bool:
    """End all that is left of a run whose supervisor is gone; False where something does not end."""
    for _ in range(ROUNDS):
        left = marked(token)
        if not left:
            return True
        send(left, signal.SIGKILL)
        time.sleep(ROUND_SECONDS)
    return False


def send(pids: Collection[int], number: signal.Signals) -> None:
    """Send a signal to processes; those that are gone, or are not ours, are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def born(pid: int) -> int | None:
    """When a process began, in ticks since the system did; None: there is none, or the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
    return None


def send_if_born(pid: int, ticks: int | None, number: signal.Signals) -> None:
    """Send a signal to a process if it is still the one that began then."""
    with suppress(ProcessLookupError, PermissionError):
        if not hasattr(os, "pidfd_open"):  # not Linux
            os.kill(pid, number)
            return
        handle = os.pidfd_open(pid)  # from here on the number stays this process'
        try:
            if born(pid) == ticks:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def memory_bytes(pids: Collection[int]) -> int:
    """Memory of processes together; pages that several share count once (PSS), as far as the system tells."""
    if len(pids) == 1:
        return sum(map(_resident, pids))
    return sum(_proportional(pid) or _resident(pid) for pid in pids)


def used_and_waited_seconds(pids: Collection[int]) -> tuple[float, float]:
    """CPU time so far of processes that live and their children that ended, and time for which ready threads waited for a CPU."""
    ticks = waited = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[11:15]))
            waited += sum(int((task / "schedstat").read_bytes().split()[1]) for task in Path(f"/proc/{pid}/task").iterdir())
    return ticks / os.sysconf("SC_CLK_TCK"), waited / 1e9


def oom_kills(group: Path | None = None) -> int | None:
    """How often the kernel has ended processes for want of memory, in this cgroup, else on this machine; None: not told."""
    with suppress(OSError, StopIteration):
        if group is not None:
            return counted(group / "memory.events", "oom_kill")
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        own = next(line.split("::", 1)[1] for line in lines if line.startswith("0::"))
        count = counted(Path(f"{CGROUPS}{own}/memory.events"), "oom_kill")
        if count is not None:  # also 0: the count of the machine would be no lower than a first one here
            return count
    with suppress(OSError):
        return counted(Path("/proc/vmstat"), "oom_kill")
    return None


def counted(file: Path, key: str) -> int | None:
    """A count of the kernel's, by its key; None: this kernel has none. OSError: no such file."""
    found = re.search(rf"^{key} (\d+)$", file.read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) if found else None


def _all() -> Iterator[tuple[int, int, str]]:
    """Process id, parent and state of every process that can be seen."""
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    # The name of a program, in brackets, may hold blanks and brackets.
                    state, parent = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()[:2]
                    yield int(entry.name), int(parent), state.decode()


def _environment(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def _resident(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE_BYTES
    return 0


def _proportional(pid: int) -> int:
    with suppress(OSError, ValueError):
        found = re.search(rb"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_bytes(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    return 0


def _prctl(option: int, value: int) -> None:
    with suppress(AttributeError, OSError):  # not Linux
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def confine(pids: Collection[int], cpus: int, others: Collection[int] = ()) -> tuple[int, ...]:
    """Let processes run on so many (at least 1) CPUs, of the first one's, then others; returns them, if one lives."""
    kept: tuple[int, ...] = ()
    for pid in pids:
        with suppress(ProcessLookupError, FileNotFoundError):
            kept = kept or tuple(dict.fromkeys((*sorted(os.sched_getaffinity(pid)), *others)))[:cpus]
            for _ in range(LOOKS):
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
