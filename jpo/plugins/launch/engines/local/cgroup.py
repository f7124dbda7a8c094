"""A run's own cgroup (v2), below one that was delegated to this process: the kernel keeps its limits, its account and its end.

A cgroup that has processes hands no controller down: who is in the delegated one is moved into a leaf of it first. What systemd
manages itself is left alone, though its files may be the user's own.

Source: Linux, Documentation/admin-guide/cgroup-v2.rst; systemd, docs/CGROUP_DELEGATION.md.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from jpo.plugins.launch.engines.local.processes import CGROUPS, ROUND_SECONDS, ROUNDS, counted, send
from jpo.plugins.launch.job import Needs

HERE = Path(CGROUPS), Path("/proc/self"), Path("/run/systemd/system")
CONTROLLERS = ("memory", "cpu")
"""Without the first there is no point in one."""
RUN, LEAF = "jpo-run-", "jpo-others"
MARKS = {"user.delegate", "trusted.delegate"}
"""Extended attributes of what systemd delegated: since 251, and before it, for root alone."""
PERIOD = 100_000  # microseconds in which CPUs are shared out


def delegated(root: Path, proc: Path, systemd: Path) -> tuple[Path | None, str]:
    """The cgroup below which runs get their own; else None, and why in words. It changes nothing. `systemd` exists if it runs."""
    with suppress(OSError, StopIteration):
        lines = (proc / "cgroup").read_text(encoding="utf-8").splitlines()
        folder = root / next(line[len("0::/") :] for line in lines if line.startswith("0::/"))
        folder = folder.parent if folder.name == LEAF else folder
        if CONTROLLERS[0] not in (folder / "cgroup.controllers").read_text(encoding="ascii").split():
            return None, f"{folder} has no {CONTROLLERS[0]} controller"
        if not (folder / "cgroup.events").exists() or ".." in folder.parts:
            return None, f"{folder} is the root of all cgroups"
        if not all(os.access(folder / each, os.W_OK) for each in ("", "cgroup.procs", "cgroup.subtree_control")):
            return None, f"{folder} is not delegated: it cannot be written"
        if folder != root and systemd.exists() and not any(MARKS & {*os.listxattr(each)} for each in (folder, *folder.parents)):
            return None, f"{folder} is not delegated: systemd manages it"
        return folder, ""
    return None, "memory and CPUs have no cgroups of version 2 here"


def made(token: str, needs: Needs) -> Path | None:
    """The cgroup of a run, made with its limits; None where none was delegated, or the kernel refuses."""
    above, _ = delegated(*HERE)
    if above is None:
        return None
    folder = above / f"{RUN}{token}"
    try:
        wanted = {*CONTROLLERS} & {*(above / "cgroup.controllers").read_text(encoding="ascii").split()}
        if wanted - {*(above / "cgroup.subtree_control").read_text(encoding="ascii").split()}:
            (above / LEAF).mkdir(exist_ok=True)
            for pid in _pids(above):
                with suppress(ProcessLookupError):
                    enter(above / LEAF, pid)
            _write(above / "cgroup.subtree_control", " ".join(f"+{each}" for each in sorted(wanted)))
        folder.mkdir()
        limit(folder, needs)
    except OSError:
        _removed(folder)
        return None
    return folder


def limit(folder: Path, needs: Needs) -> None:
    """Hold a run to what it asks for: beyond its memory all of it is killed, of CPUs it gets no more. OSError: it is gone."""
    if needs.memory_gib is not None:
        _write(folder / "memory.max", str(int(needs.memory_gib * 2**30)))
        _write(folder / "memory.oom.group", "1")
    if needs.cpus is not None and (folder / "cpu.max").exists():
        _write(folder / "cpu.max", f"{round(needs.cpus * PERIOD)} {PERIOD}")


def found(token: str) -> Path | None:
    """The cgroup of a run, wherever it was made; None: it has none (any more)."""
    return next((Path(at) for at, _, _ in os.walk(HERE[0]) if os.path.basename(at) == f"{RUN}{token}"), None)  # noqa: PTH119


def enter(folder: Path, pid: int = 0) -> None:
    """Move a process into it; 0: this one."""
    _write(folder / "cgroup.procs", str(pid))


def kill(folder: Path) -> None:
    """Kill all that is in it or below: at once (Linux 5.14), else one by one."""
    try:
        _write(folder / "cgroup.kill", "1")
    except OSError:
        for each in (folder, *folder.rglob("*/")):
            send(_pids(each), signal.SIGKILL)


def ended(folder: Path | None) -> bool:
    """Kill all that is in it, and remove it; False where something does not end."""
    for _ in range(ROUNDS):
        if folder is None or _removed(folder):
            return True
        kill(folder)
        time.sleep(ROUND_SECONDS)
    return False


def used(folder: Path, peak_before: int) -> tuple[float, int, int]:
    """CPU seconds so far, bytes of memory, and their peak. Memory is without the cache of files, which the kernel takes back:
    of the peak where that rose since `peak_before`, else of now. OSError: it is gone.
    """
    cache = (counted(folder / "memory.stat", "file") or 0) - (counted(folder / "memory.stat", "shmem") or 0)
    now = int((folder / "memory.current").read_text(encoding="ascii"))
    peak = folder / "memory.peak"
    highest = int(peak.read_text(encoding="ascii")) if peak.exists() else now  # before Linux 5.19
    seconds = (counted(folder / "cpu.stat", "usage_usec") or 0) * 1e-6
    return seconds, (highest if highest > peak_before else now) - cache, highest


def _removed(folder: Path) -> bool:
    with suppress(OSError):
        for each in sorted((folder, *folder.rglob("*/")), reverse=True):
            each.rmdir()
    return not folder.exists()


def _pids(folder: Path) -> list[int]:
    with suppress(OSError):
        return [*map(int, (folder / "cgroup.procs").read_text(encoding="ascii").split())]
    return []


def _write(file: Path, text: str) -> None:
    """OSError: the kernel refuses, or there is no such file, which is not made."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CLOEXEC), "w") as opened:
        opened.write(text)
