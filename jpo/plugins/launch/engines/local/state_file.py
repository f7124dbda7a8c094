"""Page of a run on this machine: where it is and how it ended, in one block of the disk that is rewritten in place.

The block is there before the run starts: a disk that is full when it ends can still take how it ended. Only the supervisor writes
it while it lives, and it holds a lock then; what is read under the free lock is the last word.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from jpo.errors import LaunchError
from jpo.records import RunStatus

PAGE_BYTES = 4096
PAGE, LOCK = "local.json", "local.lock"
AMOUNTS = ("started_at", "ended_at", "memory_gib", "cpu_seconds")
LARGEST_AMOUNT = 1e15
MOST_WORDS = 400
"""Characters of a reason, so that a page stays one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where processes can be seen: those of another host, boot or container cannot be asked about from here."""

    host: str
    boot: str
    namespace: str

    @classmethod
    def here(cls) -> Place:
        """Of this process; what the system does not tell is empty."""
        boot = namespace = ""
        with suppress(OSError):
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        with suppress(OSError):
            namespace = str(Path("/proc/self/ns/pid").readlink())
        return cls(socket.gethostname(), boot, namespace)


@dataclass(frozen=True, slots=True)
class Page:
    """State of one run on this machine.

    Attributes:
        token: told to all of its processes as JPO_LAUNCH; by it they are found.
        place: of its supervisor.
        supervisor, born: its process id, and when it began in ticks of the system: numbers are used again. None: not begun.
        ended: whether it is over; the fields from `exit_code` on say how.
        started_at, ended_at: unix seconds.
        oom_kills: how often the kernel had ended processes for want of memory when it began.
        memory_gib, cpu_seconds: of all its processes so far: the highest, and the total.
    """

    token: str
    place: Place
    supervisor: int | None = None
    born: int | None = None
    started_at: float | None = None
    oom_kills: int | None = None
    memory_gib: float | None = None
    cpu_seconds: float | None = None
    ended: bool = False
    exit_code: int | None = None
    ended_as: RunStatus | None = None
    ended_at: float | None = None
    reason: str = ""


def read_page(folder: Path) -> Page | None:
    """The page in the folder of a run; None where there is none, or it is being written just now."""
    try:
        handle = os.open(folder / PAGE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            found = json.loads(os.read(handle, PAGE_BYTES))
        finally:
            os.close(handle)
        ended_as = found["ended_as"]
        amounts = {name: None if found[name] is None else float(found[name]) for name in AMOUNTS}
        place = Place(**found["place"])
        if not all(value is None or 0 <= value <= LARGEST_AMOUNT for value in amounts.values()):
            return None
        if not all(isinstance(text, str) for text in (found["token"], found["reason"], place.host)):
            return None
        return Page(**{**found, **amounts, "place": place, "ended_as": None if ended_as is None else RunStatus(ended_as)})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_page(folder: Path, page: Page) -> None:
    """Rewrite the page, which takes no more room than before; LaunchError JPO-E752 where the disk refuses."""
    text = json.dumps(asdict(replace(page, reason=page.reason[:MOST_WORDS])), ensure_ascii=False).encode("utf-8", "replace")
    assert len(text) <= PAGE_BYTES, "a page"
    try:
        handle = os.open(folder / PAGE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if os.pwrite(handle, text.ljust(PAGE_BYTES), 0) < PAGE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if page.ended or page.supervisor is None:
                os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise _unusable(folder, error) from error


@contextmanager
def supervised(folder: Path) -> Iterator[int | None]:
    """The lock of a run's supervisor: its descriptor where nobody held it, and None where one lives that does."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)  # who was handed a copy goes on holding it


def _unusable(folder: Path, error: OSError) -> LaunchError:
    return LaunchError(str(folder), f"cannot be written ({error.strerror})", "check disk and mode", code="JPO-E752")
