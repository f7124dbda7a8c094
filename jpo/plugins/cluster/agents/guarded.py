"""A user's agent at work in a process of its own: whatever it does, the command ends, with one line and the right exit code.

It may loop for ever, also where Python cannot interrupt it, end the process, fork, print, or read what is typed. The command
waits for each of its answers no longer than the limit. This keeps mistakes apart; it is no sandbox: the file is the user's own.
"""

import ctypes
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from mmap import mmap
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from jpo.errors import JpoError, UsageError
from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent
from jpo.plugins.cluster.agents.loaded import AgentFaults

T = TypeVar("T")
Agent = TypeVar("Agent", bound=ClassicAgent | LearningAgent)
ASKED = ("decide", "act", "learn", "weights", "load")
"""Methods of agents that the limit is about, each time one is called."""
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_TO_END = 1.0
"""For a process whose pipe is closed, or that was asked to end."""
PR_SET_CHILD_SUBREAPER = 36
"""linux/prctl.h: what the children of a process leave behind becomes its own."""


class AgentWatch:
    """What the agent's process tells the command: how far it is, and since when an answer of the agent is due."""

    def __init__(self, sender: Connection | None, clock: mmap) -> None:
        self._sender, self._clock, self._process = sender, clock, os.getpid()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While this is entered, an answer of the user's code is due."""
        self._clock[:8] = struct.pack("d", time.monotonic())
        try:
            yield
        finally:
            if os.getpid() != self._process:  # forked off by the agent
                os._exit(0)
            self._clock[:8] = bytes(8)

    def over(self, agent: Agent) -> Agent:
        """The agent, watched whenever it is asked something."""
        for name in ASKED:
            if method := getattr(agent, name, None):
                setattr(agent, name, self._watched(method))
        return agent

    def _watched(self, method: Callable[..., T]) -> Callable[..., T]:
        def asked(*arguments: object, **options: object) -> T:
            with self.asking():
                return method(*arguments, **options)

        return asked

    def turns(self, numbers: Iterable[int]) -> Iterator[int]:
        """The numbers; the command shows how many have been taken."""
        for number in numbers:
            self.tell(("turn", None))
            yield number

    def tell(self, message: tuple[str, object]) -> None:
        """Send something to the command; a process that the agent forked off ends here."""
        if os.getpid() != self._process:
            os._exit(0)
        if self._sender is not None:
            self._sender.send(message)


def guarded(work: Callable[[AgentWatch], T], place: str, limit_seconds: float, shown: Iterable[int]) -> T:
    """Do something with a user's agent in a process of its own; what came of it. Where there is no fork (Windows), in this one.

    The limit is that of each answer; `shown` goes on by one with each turn.

    Raises JpoError: what the work raised; UsageError: JPO-E748, the agent raised, took too long, or ended its process.
    """
    clock = mmap(-1, 8)
    if not hasattr(os, "fork"):
        with AgentFaults(place):
            return work(AgentWatch(None, clock))
    receiver, sender = Pipe(duplex=False)
    process = os.fork()
    if not process:
        receiver.close()
        _keep(work, sender, clock, place)
    sender.close()
    turns, status = iter(shown), None
    try:
        while True:
            if not receiver.poll(min(SECONDS_BETWEEN_LOOKS, limit_seconds)):
                status = _status(process, 0.0) if status is None else status
                if receiver.poll(0):
                    continue
                if status is not None:  # what it forked off may hold the pipe open
                    raise _fault(place, _how_it_ended(status))
                since = struct.unpack("d", clock[:8])[0]
                if since and time.monotonic() - since > limit_seconds:
                    raise _fault(place, f"gave no answer within {limit_seconds:g} s", "fix the agent, or raise --agent-limit")
                continue
            try:
                kind, value = receiver.recv()
            except (EOFError, OSError) as error:
                status = _status(process, SECONDS_TO_END) if status is None else status
                finding = "closed its pipe to the command" if status is None else _how_it_ended(status)
                raise _fault(place, finding) from error
            if kind == "turn":
                next(turns, None)
            elif kind == "error":
                raise value[0](*value[1], code=value[2])
            else:
                return value  # type: ignore[no-any-return]
    finally:
        receiver.close()
        clock.close()
        _end(process)
        with suppress(AttributeError):
            turns.close()  # type: ignore[attr-defined]


def _keep(work: Callable[[AgentWatch], T], sender: Connection, clock: mmap, place: str) -> None:
    """The process between the command and the agent's: it adopts what the agent leaves behind, and ends all of it with the agent.

    It ends as the agent's process does; asked to end, or without the command, it ends that first.
    """
    os.setsid()
    with suppress(AttributeError, OSError):  # not Linux: only the agent's process is ended
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command, agent = os.getppid(), os.fork()
    if not agent:
        _work(work, AgentWatch(sender, clock), place)
    sender.close()
    signal.signal(signal.SIGTERM, lambda *_: _kill(agent))
    threading.Thread(target=_when_gone, args=(command, lambda: _kill(agent)), daemon=True).start()
    _, status = os.waitpid(agent, 0)
    while left := _children():
        for child in left:
            _kill(child)
        os.waitpid(-1, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError):  # SIGKILL has no handler to take away
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _children() -> list[int]:
    """The processes whose parent this one is, adopted ones among them (Linux)."""
    found: list[int] = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, file.read_text(encoding="ascii").split())
    return found


def _kill(process: int) -> None:
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)


def _end(process: int) -> None:
    """Let a keeper end all that is below it, and wait for that."""
    with suppress(OSError):
        os.kill(process, signal.SIGTERM)
        if _status(process, SECONDS_TO_END) is None:
            _kill(process)
            os.waitpid(process, 0)


def _work(work: Callable[[AgentWatch], T], watch: AgentWatch, place: str) -> None:
    """The agent's process: what it prints is dropped, as it would pass no gate; it reads nothing, and ends with the command."""
    os.setsid()
    command = os.getppid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    threading.Thread(target=_when_gone, args=(command, lambda: os._exit(0)), daemon=True).start()
    message: tuple[str, object]
    try:
        with AgentFaults(place):
            message = ("result", work(watch))
    except KeyboardInterrupt:
        os._exit(0)
    except JpoError as error:
        message = ("error", (type(error), (error.place, error.finding, error.remedy), error.code))
    with suppress(OSError):
        watch.tell(message)
    os._exit(0)


def _when_gone(parent: int, then: Callable[[], object]) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    then()


def _status(process: int, seconds: float) -> int | None:
    """How a process ended; None: it still runs after so long."""
    until = time.monotonic() + seconds
    while not (ended := os.waitpid(process, os.WNOHANG))[0]:
        if time.monotonic() >= until:
            return None
        time.sleep(SECONDS_BETWEEN_LOOKS / 10)
    return ended[1]


def _how_it_ended(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"was ended by signal {-code}" if code < 0 else f"ended its process with exit code {code}"


def _fault(place: str, finding: str, remedy: str = "fix the agent") -> UsageError:
    return UsageError(place, finding, remedy, code="JPO-E748")
