"""Timeouts of what JPO asks outside: programs, and calls of client libraries that may start programs by themselves.

Both are waited for so long, and then ended with all that they have started: a login of a kubeconfig, or a credential_process of
AWS, that hangs would outlive the command. Programs get no input and no terminal. Not for runs, which have a supervisor.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
MOST_BYTES = 2**28
"""Of an answer in memory: the queue of a cluster of a million jobs."""
LOOK_SECONDS = 0.05
"""How often a program is looked at that has ended, while something that it started holds its output open."""
END_SECONDS = 1.0
"""For what was ended to be gone; what waits for a driver that hangs cannot be ended, and is left."""
SOONER_SECONDS = 0.2
"""By which a call's own questions are over before the call is, so that they are tidied up while this process is there."""
_until: ContextVar[float] = ContextVar("until", default=float("inf"))
"""Monotonic seconds until which the calls of this thread may take: a program that one of them starts later is not waited for."""


class NoAnswerInTime(TimeoutError):
    """What was asked has not answered in time, and was ended: "no answer within 5 s"."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {round(max(0.0, seconds), 1):g} s")


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """What a program printed until it ended; `exit_code` is negative for a signal."""

    exit_code: int
    stdout: bytes
    stderr: bytes


def answer_of(
    command: Sequence[str], *, seconds: float, environment: Mapping[str, str] | None = None, most_bytes: int = MOST_BYTES
) -> ProgramAnswer:
    """Ask a program, without a shell and in a process group of its own; what is left of that afterwards is ended.

    Args:
        environment: its variables; None: those of this process.
        most_bytes: that it may print.

    Raises:
        NoAnswerInTime: it has not ended in time. OSError: it cannot be started, or prints more than `most_bytes`.
    """
    begun = time.monotonic()
    until = min(begun + seconds, _until.get())
    if begun >= until:
        raise NoAnswerInTime(0.0)
    process = subprocess.Popen(  # noqa: S603 - whoever asks names a program, no shell
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True
    )
    try:
        return _heard(process, begun, until, most_bytes)
    finally:
        _end(_below_process(process.pid))  # what has left its group, as far as its parents are there
        with suppress(ProcessLookupError, PermissionError):  # nothing is left; macOS: only zombies are
            os.killpg(process.pid, signal.SIGKILL)
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)


def _heard(process: subprocess.Popen[bytes], begun: float, until: float, most_bytes: int) -> ProgramAnswer:
    assert process.stdout is not None
    assert process.stderr is not None
    said = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    stdout, stderr = said.values()
    with selectors.DefaultSelector() as pipes:
        for pipe in said:
            pipes.register(pipe, selectors.EVENT_READ)
        while pipes.get_map():
            over = process.poll() is not None  # asked before: what it printed last is there now
            ready = pipes.select(0 if over else LOOK_SECONDS)
            if over and not ready:
                break  # something that left its group still holds them
            for key, _ in ready:
                piece = os.read(key.fd, 2**16)
                said[key.fd] += piece
                if not piece:
                    pipes.unregister(key.fd)
            if len(stdout) + len(stderr) > most_bytes:
                raise OSError(0, f"prints more than {most_bytes} bytes")
            if time.monotonic() >= until:
                raise NoAnswerInTime(until - begun)
    try:
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise NoAnswerInTime(until - begun) from error
    return ProgramAnswer(code, bytes(stdout), bytes(stderr))


def within(seconds: float, calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make calls side by side, and wait so long for all; what they return, in their order.

    What one raises is raised when all are over.

    Raises NoAnswerInTime: not all are over by then. Programs that the others have started are ended (Linux); they go on in
    threads that end with this process at the latest.
    """
    import threading  # where an engine is asked alone: `jpo suggest` starts without them
    from multiprocessing import TimeoutError as NotInTime
    from multiprocessing.pool import ThreadPool

    begun, threads = time.monotonic(), list[int]()
    until = min(begun + seconds, _until.get())

    def made(call: Callable[[], T]) -> T:
        threads.append(threading.get_native_id())
        _until.set(until - SOONER_SECONDS)
        return call()

    pool, over = ThreadPool(len(calls)), False  # its threads are daemons: none keeps this process from ending
    try:
        answers, over = pool.map_async(made, calls, chunksize=1).get(max(0.0, until - time.monotonic())), True
        return answers
    except NotInTime:
        raise NoAnswerInTime(until - begun) from None
    finally:
        pool.terminate()
        if not over:  # also where the user interrupts
            _end_programs_of(threads)


def _end_programs_of(threads: Sequence[int]) -> None:
    """End what some threads of this process have started, and all below that."""
    until = time.monotonic() + END_SECONDS
    while (left := [pid for thread in threads for pid in _below(Path(f"/proc/self/task/{thread}"))]) and time.monotonic() < until:
        _end(left)
        time.sleep(LOOK_SECONDS)


def _end(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, signal.SIGKILL)
            os.kill(pid, signal.SIGKILL)


def _below(task: Path) -> Iterator[int]:
    """The processes that a thread has started, and what these have, the lowest first; nothing where there is no /proc."""
    with suppress(OSError):
        for word in (task / "children").read_text(encoding="ascii").split():
            yield from _below_process(int(word))
            yield int(word)


def _below_process(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*"):
        yield from _below(task)
