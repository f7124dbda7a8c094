"""Writer of config.ini: the edited file replaces the old one whole or not at all, and never over another program's change.

Writers of one folder take turns through an advisory lock on the folder itself, which leaves nothing behind. Programs that do not
use the lock (an editor) are noticed until just before the rename; what they save within the microseconds between that last check
and the rename is lost. Mode and, where permitted, owner are kept; hard links are separated, ACLs and attributes not copied.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jpo.config.edit import edited
from jpo.config.source import contents
from jpo.errors import ConflictError, EditError, UsageError
from jpo.records import Edit

TEMPORARY = ".jpo-write-"
"""Prefix of the new file until it is renamed. One that kill -9 left behind is removed by the next write in that folder."""

LOCK_SECONDS = 5.0
"""Wait for the lock; a write takes milliseconds, so a process that holds it longer hangs."""


def write(path: Path, edits: Sequence[Edit], *, expected_digest: str) -> None:
    """Replace values in config.ini atomically.

    Args:
        path: the file; of a symlink, its target is replaced and the link stays.
        edits: what to replace; without any, the file is not touched.
        expected_digest: Workload.digest, the SHA-256 of the file when it was read.

    Raises:
        ConflictError: the file is not what was read, or another writer holds the folder.
        EditError: the edit would lose something, or the disk refuses; the file is as it was.
    """
    place = str(path)
    try:
        target = Path(os.path.realpath(path, strict=True))
        _refuse_read_only(target, place)
        with _turn(target.parent, place):
            original = _expected(path, place, expected_digest)
            replacement = edited(original, place, edits)
            if replacement != original:
                _replace(target, replacement, lambda: _expected(path, place, expected_digest))
                _expected(path, place, hashlib.sha256(replacement).hexdigest())
    except FileNotFoundError as error:
        raise ConflictError(place, "was removed since it was read", "run again", code="JPO-E220") from error
    except OSError as error:
        remedy = "free space or allow writing in its folder; the file is unchanged"
        raise EditError(place, f"cannot be written: {error.strerror}", remedy, code="JPO-E222") from error


@contextlib.contextmanager
def _turn(folder: Path, place: str) -> Iterator[None]:
    """Wait for this writer's turn in the folder. Where the file system has no such locks (some NFS), only the digest protects."""
    with contextlib.ExitStack() as stack:
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, handle)  # which releases the lock
            _lock(handle, place)
        except OSError:
            pass
        else:
            for leftover in folder.glob(f"{TEMPORARY}*"):
                leftover.unlink(missing_ok=True)
        yield


def _lock(handle: int, place: str) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                finding = f"another program has locked its folder for {LOCK_SECONDS:g} s"
                raise ConflictError(place, finding, "run again when it is done", code="JPO-E223") from error
        time.sleep(0.01)


def _expected(path: Path, place: str, digest: str) -> bytes:
    """The file's bytes, or ConflictError when they are not those of the digest."""
    try:
        data = contents(path)
    except UsageError as error:
        raise ConflictError(place, f"was replaced since it was read: {error.finding}", "run again", code="JPO-E220") from error
    if hashlib.sha256(data).hexdigest() != digest:
        finding = "was changed by someone else since it was read"
        raise ConflictError(place, finding, "run again to see the new values", code="JPO-E220")
    return data


def _refuse_read_only(target: Path, place: str) -> None:
    """Refuse a write-protected file: a rename would replace it too, against its owner's wish."""
    if not stat.S_IMODE(target.stat().st_mode) & 0o222:
        raise EditError(place, "is write-protected", f"chmod u+w {place}", code="JPO-E222")


def _replace(target: Path, data: bytes, still_as_read: Callable[[], object]) -> None:
    """Replace the content under a name: written and flushed next to it, then renamed."""
    handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=target.parent)
    temporary = Path(name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - it is a descriptor
            file.write(data)
            file.flush()
            _same_owner_and_mode(handle, target)
            os.fsync(handle)
        still_as_read()
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _flush_folder(target.parent)


def _same_owner_and_mode(handle: int, target: Path) -> None:
    old = target.stat()
    with contextlib.suppress(PermissionError):  # only root may give files away; writing the file matters more
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _flush_folder(folder: Path) -> None:
    """Make the rename survive a power cut. The new file is in place already: where this fails (FUSE, SMB), nothing is lost."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
