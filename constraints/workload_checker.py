"""Checker of the team: a program named in jpo.toml that examines the proposed config.ini and rejects it by its exit code.

It is started without a shell, on a copy, with nothing on its standard input, under a supervisor (supervisor.py): when its time is
up or JPO dies, it is killed together with all processes that it started, and it cannot look into JPO or other processes.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from constraints.amounts import seconds
from constraints.printable import printable
from constraints.unknown import table_of

TAIL_BYTES, TAIL_LINES, LINE_CHARACTERS = 8192, 5, 200
HARMLESS = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|TMPDIR|LANG|LC_\w+|VIRTUAL_ENV|PYTHON\w*|LD_LIBRARY_PATH|SSL_CERT_\w+|CI"
)
"""The environment variables that a checker gets: its command comes from the branch under review, and its output is shown."""
ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
POLL_SECONDS = 0.02
MERCY_SECONDS = 2.0
"""Time that the supervisor has to end everything; after it, the process group is killed."""


@dataclass(frozen=True, slots=True)
class Checker:
    """The [check] table: program and arguments, with `{config}` for the file, and the longest it may take."""

    command: tuple[str, ...]
    timeout_seconds: float


def checker_from(tables: Mapping[str, object]) -> Checker | None:
    """The checker that jpo.toml names, or None.

    Raises:
        ValueError: the command is not a list of texts with `{config}` in it, or the timeout is not a duration.
    """
    table = table_of(tables, "check", ("command", "timeout"))
    command = table.get("command")
    if command is None or command in ([], ()):
        return None
    if not isinstance(command, list | tuple) or not all(isinstance(word, str) and word and "\0" not in word for word in command):
        raise ValueError('[check] command: is not a list of texts; write e.g. command = ["workload_checker", "{config}"]')
    if not any("{config}" in word for word in command[1:]):
        raise ValueError('[check] command: gets no file to check; add the argument "{config}"')
    return Checker(tuple(command), seconds(table.get("timeout"), "[check] timeout") or 60.0)


def run_checker(command: Sequence[str], proposed: bytes, name: str, timeout_seconds: float) -> str | None:
    """Run the checker on a proposed file.

    Args:
        command: program and arguments; `{config}` is replaced by the path of a private copy, removed afterwards.
        proposed: the content of the file that would be written.
        name: its file name, which the copy gets.
        timeout_seconds: the longest the checker may take.

    Returns:
        None if it exits with 0; else the reason: its last lines, on one line and safe for a terminal.

    Raises:
        ValueError: it cannot be started.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="jpo-check-", ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / (PurePath(name).name or "config.ini")
            copy.write_bytes(proposed)
            arguments = [word.replace("{config}", str(copy)) for word in command]
            return _supervised(arguments, PurePath(command[0]).name, timeout_seconds)
    except OSError as error:
        raise ValueError(
            f"[check] command: {command[0]!r} cannot be run ({error.strerror}); install it or name its path"
        ) from error


def _supervised(arguments: Sequence[str], name: str, timeout_seconds: float) -> str | None:
    """Run the checker under its supervisor; the reason why it rejects, or None. Raises OSError if it cannot be started."""
    from constraints import supervisor  # here: ctypes is needed by those alone who have a checker

    reading, writing = os.pipe()
    with supervisor.out_of_sight(), open(reading, "rb") as answer:  # noqa: PTH123 - it is a descriptor
        try:
            process = subprocess.Popen(  # noqa: S603 - the team's own command; without a shell nothing in it is interpreted
                [sys.executable, "-I", "-S", supervisor.__file__, str(writing), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(writing,),
                start_new_session=True,
                bufsize=0,
                env={name: value for name, value in os.environ.items() if HARMLESS.fullmatch(name)},
            )
        finally:
            os.close(writing)
        with process:
            try:
                tail = _tail_until_end(process, time.monotonic() + timeout_seconds)
            finally:
                _end(process)
        word, _, number = answer.read().decode().partition(" ")
    if word == "refused":
        raise OSError(int(number), os.strerror(int(number)))
    if tail is None:
        return f"{name} did not answer within {timeout_seconds:g} s"
    return _reason(name, int(number) if word == "exited" else -int(number or -process.returncode), tail)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the supervisor, which ends all that the checker started; where it does not (the checker has killed it), its group."""
    assert process.stdin is not None
    process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(MERCY_SECONDS)
    if process.returncode != 0:
        with suppress(ProcessLookupError, PermissionError):  # nothing of the group is left; macOS raises the latter for zombies
            os.killpg(process.pid, signal.SIGKILL)


def _reason(name: str, code: int, tail: bytes) -> str | None:
    """Why the checker rejects: its exit code (below 0: the signal that ended it) and its last words; None if it does not."""
    if code == 0:
        return None
    ended = f"{name} was ended by signal {-code}" if code < 0 else f"{name} rejects with exit code {code}"
    return f"{ended}: {output}" if (output := _last_lines(tail)) else f"{ended} without any output"


def _tail_until_end(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """The last bytes that the process wrote; None if it has not ended by the deadline.

    Ends with the process, not with its output: a child it leaves behind may hold the pipe open.
    """
    assert process.stdout is not None
    tail, pipe, open_ = b"", process.stdout.fileno(), True
    ended = False
    while time.monotonic() < deadline:
        ended = process.poll() is not None  # checked first: what it wrote before its end is still read below
        if open_ and select.select([pipe], [], [], 0 if ended else POLL_SECONDS)[0]:
            chunk = os.read(pipe, 65536)
            tail, open_ = (tail + chunk)[-TAIL_BYTES:], bool(chunk)
        elif ended:
            return tail
        elif not open_:
            time.sleep(POLL_SECONDS)
    return tail if ended else None


def _last_lines(output: bytes) -> str:
    lines = [printable(line).strip() for line in ESCAPE.sub("", output.decode("utf-8", "replace")).splitlines()]
    return " | ".join(line[:LINE_CHARACTERS] for line in [line for line in lines if line][-TAIL_LINES:])
