"""Faults of the operating system: each system call by which a command touches its files or its store fails once.

A process that has jpo imported forks; strace holds the child, or the supervisor of the run that it starts, and lets one call fail
as the kernel would report it. For benchmarks/faults.py, which takes every call, and for its test, which takes some.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

CALLS = (
    *("openat", "mkdir", "read", "pread64", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "link"),
    *("fchmod", "fchown", "flock", "fcntl", "socket", "connect", "sendto", "recvfrom"),
)
FULL_DISK = ("write", "pwrite64", "openat", "mkdir", "ftruncate")
"""Calls that also fail because nothing is free any more."""
INTERRUPTED = (
    *("openat", "read", "pread64", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "flock", "fcntl"),
    *("sendto", "recvfrom"),
)
"""Calls that a signal may end before they did anything: whoever called calls again. Not connect, which then goes on by itself."""
KILL = "SIGKILL"
"""In place of an error: the process is killed at this call."""
LONGEST_SECONDS = 60.0
NOT_OURS = r"/project/runs\b|jpo\.toml|pyproject\.toml|\.git\b"
"""Files of the project that most commands only read: logs of runs, settings."""
GO = signal.SIGUSR1
"""To a process that waits for strace: it may go on."""
Held = Literal["jpo", "supervisor"]
HELD_SUPERVISOR = """
import os, signal, sys
sys.path.insert(0, sys.argv.pop(1))
from jpo.plugins.launch.engines.local.supervisor import main
fork = os.fork
def held():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.{go}])
    pid, os.fork = fork(), fork
    if pid == 0 and not os.path.lexists({place!r}):
        os.symlink(str(os.getpid()), {place!r})
        signal.sigtimedwait([signal.{go}], {seconds})
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.{go}])
    return pid
os.fork = held
main()
"""
"""In place of the launcher's PROGRAM: the first supervisor says its number, and waits until strace holds it."""


@dataclass(frozen=True)
class Fault:
    """One system call that fails.

    Attributes:
        call: its name; `number`: it is the process' so-manieth of this name, from 1 on.
        error: how it fails, e.g. "EIO".
        about: the call as strace shows it, for people.
        process: whose call it is.
    """

    call: str
    number: int
    error: str
    about: str
    process: Held = "jpo"


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (None: it did not in time), stdout and stderr."""

    code: int | None
    out: str
    err: str


def missing() -> str | None:
    """The Debian package to install, None if it is there."""
    return None if shutil.which("strace") else "strace"


def faults(
    arguments: Sequence[str], folder: Path, *, process: Held = "jpo", alone: bool = True, not_ours: str = NOT_OURS
) -> list[Fault]:
    """Run a command undisturbed, and return each fault that could befall it: calls about its folder, a pipe or a socket.

    Args:
        process: whose calls are taken; `alone`: it launches no other, so that those of all its threads are.
        not_ours: files that are no part of what JPO promises, as Python's own are none.
    """
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8", errors="replace") as log:
        options = ["-y", "-o", log.name, "-e", f"trace={','.join(CALLS)}"]
        ended = traced(arguments, folder, options, process=process, alone=alone)
        if ended.code != 0:
            raise RuntimeError(f"{' '.join(arguments)} does not work undisturbed: {ended}")
        return list(_found(log, str(folder), process, not_ours))


def _found(lines: Iterable[str], folder: str, process: Held, not_ours: str) -> Iterator[Fault]:
    """The faults of a trace. strace counts each thread's calls by themselves: what would hit another file, too, is left out."""
    counts: Counter[tuple[str, str]] = Counter()
    ours: dict[tuple[str, int], str] = {}
    others: set[tuple[str, int]] = set()
    for line in lines:
        match = re.match(r"(?:(\d+)\s+)?(\w+)\((.*)", line)
        if match is None or match[2] not in CALLS:
            continue  # the end of a call that another thread interrupted, a signal, the exit
        thread, call, rest = match.groups(default="")
        rest = re.sub(r'^AT_FDCWD<[^>]*>, (?="/)', "", rest)  # the working folder says nothing of an absolute path
        counts[thread, call] += 1
        key = call, counts[thread, call]
        project = folder in rest and not re.search(not_ours, rest)
        server = call in ("socket", "connect") and "AF_" in rest
        if project or server or re.match(r"\d+<(UNIX|TCP|socket|pipe)", rest):
            ours[key] = f"{call}({rest.strip()[:80]}"
        else:
            others.add(key)
    for (call, number), about in ours.items():
        if (call, number) not in others:
            for error in _errors(call, about):
                yield Fault(call, number, error, about, process)


def _errors(call: str, about: str) -> Iterator[str]:
    """How the kernel may end a call: of a pipe no disk can fail, and of fcntl a lock alone is interrupted."""
    if not re.search(r"\(\d+<pipe", about):
        yield "EIO"
        if call in FULL_DISK:
            yield "ENOSPC"
    if call in INTERRUPTED and (call != "fcntl" or "SETLK" in about):
        yield "EINTR"
    yield KILL


def suffered(arguments: Sequence[str], folder: Path, fault: Fault, *, alone: bool = True) -> Ended:
    """Run a command to which this happens."""
    kind = f"signal={KILL}" if fault.error == KILL else f"error={fault.error}"
    options = ["-o", os.devnull, "-e", f"inject={fault.call}:{kind}:when={fault.number}"]
    return traced(arguments, folder, options, process=fault.process, alone=alone)


def traced(arguments: Sequence[str], folder: Path, options: Sequence[str], *, process: Held = "jpo", alone: bool = True) -> Ended:
    """Run `jpo arguments` in a folder, in a child of this process; strace holds it, or the supervisor, from its first call on."""
    from jpo.__main__ import run
    from jpo.plugins.launch.engines.local import launcher

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryDirectory() as beside:
        place = Path(beside) / "supervisor"
        signal.pthread_sigmask(signal.SIG_BLOCK, [GO])
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.chdir(folder)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                if process == "supervisor":
                    launcher.PROGRAM = HELD_SUPERVISOR.format(go=GO.name, place=str(place), seconds=LONGEST_SECONDS)
                else:
                    signal.sigtimedwait([GO], LONGEST_SECONDS)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [GO])
                code = run([*arguments])
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [GO])
        held = child if process == "jpo" else _number(place)
        command = ["strace", *(["-f"] if alone else []), "-q", *options, "-p", str(held)]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _wait_for_tracer(held, tracer)
        os.kill(held, GO)
        ended = _code(child)
        tracer.communicate(timeout=LONGEST_SECONDS)
        for file in (out, err):
            file.seek(0)
        return Ended(ended, out.read().decode(errors="replace"), err.read().decode(errors="replace"))


def _number(place: Path) -> int:
    """The process that waits to be held."""
    until = time.monotonic() + LONGEST_SECONDS
    while not place.is_symlink():
        if time.monotonic() > until:
            raise RuntimeError("no supervisor was started")
        time.sleep(0.002)
    return int(str(place.readlink()))


def _wait_for_tracer(child: int, tracer: subprocess.Popen[bytes]) -> None:
    status = Path(f"/proc/{child}/status")
    until = time.monotonic() + LONGEST_SECONDS
    while "TracerPid:\t0\n" in status.read_text(encoding="utf-8"):
        if tracer.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"strace cannot hold a process: {tracer.communicate()[1].decode(errors='replace')}")
        time.sleep(0.001)


def _code(child: int) -> int | None:
    until = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None
