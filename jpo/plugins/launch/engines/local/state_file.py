"""State of a run on this machine: where it is and how it ended, in one block of the disk that is rewritten in place.

The block is there before the run starts: a disk that is full when it ends can still take how it ended. Only the supervisor writes
it while it lives, and it holds a lock then; what is read under the free lock is the last word.
"""

import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from jpo.errors import LaunchError
from jpo.records import RunStatus

STATE_BYTES = 4096
STATE_FILE, LOCK = "local.json", "local.lock"
AMOUNTS = ("started_at", "ended_at", "memory_gib", "cpu_seconds", "busy_cpus")
LARGEST_AMOUNT = 1e15
MOST_WORDS = 400
"""Characters of a reason, so that a state fits into its block."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where processes can be seen: those of another host, boot or container cannot be asked about from here."""

    host: str
    boot: str
    namespace: str

    @classmethod
    def here(cls) -> Self:
        """Of this process; what the system does not tell is empty."""
        boot = namespace = ""
        with suppress(OSError):
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        with suppress(OSError):
            namespace = str(Path("/proc/self/ns/pid").readlink())
        return cls(socket.gethostname(), boot, namespace)


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run on this machine ended. `exit_code` None: a signal ended it, or it is not known."""

    ended_as: RunStatus | None
    reason: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    """State of one run on this machine.

    Attributes:
        token: told to all of its processes as JPO_LAUNCH; by it they are found.
        place: of its supervisor.
        supervisor, born: its process id, and when it began in ticks of the system: numbers are used again. None: not begun.
        started_at, ended_at: of the command, unix seconds.
        oom_kills: how often the kernel had ended processes for want of memory when it began.
        memory_gib, cpu_seconds: of all its processes so far: the highest, and the total.
        busy_cpus: the most that they used or waited for in any tick of the supervisor since the state was last renewed.
        exit: of the command where it ended by itself, negative for a signal; what it left behind may go on.
        end: None: it goes on, or what the command left behind does.
    """

    token: str
    place: Place
    supervisor: int | None = None
    born: int | None = None
    started_at: float | None = None
    oom_kills: int | None = None
    memory_gib: float | None = None
    cpu_seconds: float | None = None
    ended_at: float | None = None
    end: RunEnd | None = None
    busy_cpus: float | None = None
    exit: int | None = None


def read_state(folder: Path) -> RunState | None:
    """The state in the folder of a run; None where there is none, or it is being written just now."""
    try:
        handle = os.open(folder / STATE_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = json.loads(os.read(handle, STATE_BYTES))
        finally:
            os.close(handle)
        ended, ended_as, reason, exit_code = (found.pop(name) for name in ("ended", "ended_as", "reason", "exit_code"))
        amounts = {name: None if found.get(name) is None else float(found[name]) for name in AMOUNTS}
        place = Place(**found["place"])
        if not all(value is None or 0 <= value <= LARGEST_AMOUNT for value in amounts.values()):
            return None
        words = all(isinstance(text, str) for text in (found["token"], reason, place.host))
        if not words or not isinstance(found.get("exit"), int | None):
            return None
        end = RunEnd(None if ended_as is None else RunStatus(ended_as), reason, exit_code) if ended else None
        return RunState(**{**found, **amounts, "place": place, "end": end})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_state(folder: Path, state: RunState) -> None:
    """Rewrite the state, which takes no more room than before; LaunchError JPO-E752 where the disk refuses."""
    end, facts = state.end, asdict(state)
    del facts["end"]
    facts |= {"ended": end is not None, "exit_code": end and end.exit_code, "ended_as": end and end.ended_as}
    facts |= {"ended_at": facts.pop("ended_at"), "reason": end.reason[:MOST_WORDS] if end else ""}
    text = json.dumps(facts, ensure_ascii=False).encode("utf-8", "replace")
    assert len(text) <= STATE_BYTES, "one block"
    try:
        handle = os.open(folder / STATE_FILE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if os.pwrite(handle, text.ljust(STATE_BYTES), 0) < STATE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if state.end or state.supervisor is None:
                os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise _unusable(folder, error) from error


@contextmanager
def supervised(folder: Path) -> Iterator[int | None]:
    """The lock of a run's supervisor: its descriptor where nobody held it, and None where one lives that does."""
    with ExitStack() as stack:
        handle: int | None = None
        try:
            handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, handle)  # who was handed a copy goes on holding it
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle = None
        except OSError as error:
            raise _unusable(folder, error) from error
        yield handle


def _unusable(folder: Path, error: OSError) -> LaunchError:
    return LaunchError(str(folder), f"cannot be written ({error.strerror})", "check disk and mode", code="JPO-E752")
