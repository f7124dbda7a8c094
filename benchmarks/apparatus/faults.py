"""Faults of the operating system: each system call by which a command touches its files or its store fails once.

A process that has jpo imported forks; strace holds the child, and lets one call fail as the kernel would report it.
For benchmarks/faults.py, which takes every call, and for tests/commands/test_system_calls.py, which takes some.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CALLS = (
    *("openat", "mkdir", "read", "pread64", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink", "link"),
    *("fchmod", "fchown", "flock", "fcntl", "socket", "connect", "sendto", "recvfrom"),
)
FULL_DISK = ("write", "pwrite64", "openat", "mkdir", "ftruncate")
"""Calls that also fail because nothing is free any more."""
KILL = "SIGKILL"
"""In place of an error: the process is killed at this call."""
LONGEST_SECONDS = 60.0


@dataclass(frozen=True)
class Fault:
    """One system call that fails.

    Attributes:
        call: its name; `number`: it is the command's so-manieth of this name, from 1 on.
        error: how it fails, e.g. "EIO".
        about: the call as strace shows it, for people.
    """

    call: str
    number: int
    error: str
    about: str


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (None: it did not in time), stdout and stderr."""

    code: int | None
    out: str
    err: str


def missing() -> str | None:
    """The Debian package to install, None if it is there."""
    return None if shutil.which("strace") else "strace"


def faults(arguments: Sequence[str], folder: Path) -> list[Fault]:
    """Run a command undisturbed, and return each fault that could befall it: calls about the project's folder or a socket.

    Logs of runs, jpo.toml and Python's own files are no part of what JPO promises.
    """
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8", errors="replace") as log:
        ended = traced(arguments, folder, ["-y", "-o", log.name, "-e", f"trace={','.join(CALLS)}"])
        if ended.code != 0:
            raise RuntimeError(f"{' '.join(arguments)} does not work undisturbed: {ended}")
        return list(_found(log, str(folder)))


def _found(lines: Iterable[str], folder: str) -> Iterator[Fault]:
    """The faults of a trace. strace counts each thread's calls by themselves: what would hit another file, too, is left out."""
    counts: Counter[tuple[str, str]] = Counter()
    ours: dict[tuple[str, int], str] = {}
    others: set[tuple[str, int]] = set()
    for line in lines:
        match = re.match(r"(\d+)\s+(\w+)\((.*)", line)
        if match is None or match[2] not in CALLS:
            continue  # the end of a call that another thread interrupted, a signal, the exit
        thread, call, rest = match.groups()
        rest = re.sub(r'^AT_FDCWD<[^>]*>, (?="/)', "", rest)  # the working folder says nothing of an absolute path
        counts[thread, call] += 1
        key = call, counts[thread, call]
        project = folder in rest and not re.search(r"/runs\b|jpo\.toml|pyproject\.toml|\.git\b", rest)
        server = call in ("socket", "connect") and "AF_" in rest
        if project or server or re.match(r"\d+<(UNIX|TCP|socket)", rest):
            ours[key] = f"{call}({rest.strip()[:80]}"
        else:
            others.add(key)
    for (call, number), about in ours.items():
        if (call, number) not in others:
            for error in ("EIO", "ENOSPC", KILL) if call in FULL_DISK else ("EIO", KILL):
                yield Fault(call, number, error, about)


def suffered(arguments: Sequence[str], folder: Path, fault: Fault) -> Ended:
    """Run a command to which this happens."""
    kind = f"signal={KILL}" if fault.error == KILL else f"error={fault.error}"
    return traced(arguments, folder, ["-o", os.devnull, "-e", f"inject={fault.call}:{kind}:when={fault.number}"])


def wrong(ended: Ended, before: bytes, wanted: bytes, now: bytes) -> list[str]:
    """What is not as promised: config.ini is the old or the new one, and the exit code says which.

    Args:
        before, wanted, now: config.ini before the command, after it without a fault, and as it is.
    """
    found = []
    if now not in (before, wanted):
        found.append("config.ini is torn")
    if ended.code not in (0, 2, 3, 5, 6, -9):
        found.append(f"ended with {ended.code}")
    if ended.code != -9 and before != wanted and (ended.code == 0) != (now == wanted):
        found.append(f"ended with {ended.code}, and config.ini is {'the new' if now == wanted else 'the old'} one")
    return found


def traced(arguments: Sequence[str], folder: Path, options: Sequence[str]) -> Ended:
    """Run `jpo arguments` in a folder, in a child of this process that strace holds from its first call on."""
    from jpo.__main__ import run

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.chdir(folder)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.read(reader, 1)
            code = 1
            try:
                code = run([*arguments])
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        os.close(reader)
        command = ["strace", "-f", "-q", *options, "-p", str(child)]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _wait_for_tracer(child, tracer)
        os.write(writer, b"x")
        os.close(writer)
        code = _code(child)
        tracer.communicate(timeout=LONGEST_SECONDS)
        for file in (out, err):
            file.seek(0)
        return Ended(code, out.read().decode(errors="replace"), err.read().decode(errors="replace"))


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
