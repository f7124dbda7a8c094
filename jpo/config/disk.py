"""Writer of config.ini: the edited file replaces the old one whole or not at all, and never over another program's change.

Writers of one folder take turns through an advisory lock on the folder itself, which leaves nothing behind. Programs that do not
use the lock (an editor) are noticed until just before the rename; what they save within the microseconds between that last check
and the rename is lost. The new file has the rights of the old one (jpo/files); another name of the file (a hard link) keeps the
old content, of which `caveats` tell beforehand.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jpo.config.edit import edited
from jpo.config.source import contents
from jpo.errors import ConflictError, EditError, UsageError
from jpo.files import NotKept, followed, rights, successor
from jpo.records import Edit, Note

TEMPORARY = ".jpo-write-"
"""Prefix of the new file until it is renamed. One that kill -9 left behind is removed by the same user's next write there."""

LEFTOVER = re.compile(rf"{re.escape(TEMPORARY)}[0-9a-f]{{16}}-[0-9a-f]{{16}}")

LOCK_SECONDS = 5.0
"""Wait for the lock; a write takes milliseconds, so a process that holds it longer hangs."""


def write(path: Path, edits: Sequence[Edit], *, expected_digest: str) -> None:
    """Replace values in config.ini atomically.

    Args:
        path: the file; of a symlink, its target is replaced and the link stays. None may lead out of the project.
        edits: what to replace; without any, the file is not touched.
        expected_digest: Workload.digest, the SHA-256 of the file when it was read.

    Raises:
        ConflictError: the file is not what was read, or another writer holds the folder.
        EditError: the edit would lose something, or the disk refuses; the file is as it was.
    """
    place = str(path)
    try:
        target = _editable(path, place)
        with _turn(target.parent, place):
            original = _expected(path, place, expected_digest)
            replacement = edited(original, place, edits)
            if replacement != original:
                _replace(target, replacement, lambda: _expected(path, place, expected_digest))
                _expected(path, place, hashlib.sha256(replacement).hexdigest())
    except FileNotFoundError as error:
        raise ConflictError(place, "was removed since it was read", "run again", code="JPO-E220") from error
    except NotKept as error:
        remedy = "let its owner run jpo, or take that away; the file is unchanged"
        raise EditError(place, f"cannot be written: {error.strerror}", remedy, code="JPO-E224") from error
    except OSError as error:
        raise EditError(place, *_why_not(error, path), code="JPO-E222") from error


def caveats(path: Path) -> tuple[Note, ...]:
    """What people should know before this file is replaced. Empty when nothing is amiss."""
    try:
        names = path.stat().st_nlink
    except OSError:  # gone meanwhile; the write will say so
        return ()
    sentence = (
        f"{path} has {names} names (hard links): a change is seen under this one alone; put symlinks in place of the others"
    )
    return (Note("JPO-W224", sentence),) if names > 1 else ()


def _editable(path: Path, place: str) -> Path:
    """The file to replace; EditError where a link leads out of the project, or it is write-protected."""
    path.stat()  # a missing file is a conflict, no matter what its links say
    try:
        target = followed(path)
    except PermissionError as error:
        remedy = "name that file itself on the command line, or put a file in place of the link"
        raise EditError(place, str(error.strerror), remedy, code="JPO-E225") from error
    if not stat.S_IMODE(target.stat().st_mode) & 0o222:  # a rename would replace it too, against its owner's wish
        raise EditError(place, "is write-protected", f"chmod u+w {place}", code="JPO-E222")
    return target


def _why_not(error: OSError, path: Path) -> tuple[str, str]:
    """Finding and remedy where the system refuses."""
    finding, unchanged = f"cannot be written: {error.strerror}", "the file is unchanged"
    for fixed in (path, path.parent) if isinstance(error, PermissionError) else ():
        if rights.immutable(fixed):
            return f"{finding} ({fixed} has the attribute i, immutable)", f"chattr -i {fixed}; {unchanged}"
    return finding, f"free space or allow writing in its folder; {unchanged}"


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
            _remove_leftovers(folder)
        yield


def _prefix(folder: Path) -> str:
    """How names of new files in this folder begin while this user writes them. Copied elsewhere, they are not ours any more."""
    place = folder.stat()
    return f"{TEMPORARY}{hashlib.sha256(f'{place.st_dev} {place.st_ino} {os.geteuid()}'.encode()).hexdigest()[:16]}-"


def _remove_leftovers(folder: Path) -> None:
    """Remove what writers of this user left behind here. The lock is ours: whoever made them is dead. Other files stay."""
    for leftover in folder.glob(f"{_prefix(folder)}*"):
        with contextlib.suppress(OSError):
            found = leftover.lstat()
            if LEFTOVER.fullmatch(leftover.name) and stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                leftover.unlink()


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


def _replace(target: Path, data: bytes, still_as_read: Callable[[], object]) -> None:
    """Replace the content under a name: written and flushed next to it, then renamed."""
    with successor(target, prefix=_prefix(target.parent), before_rename=still_as_read) as file:
        file.write(data)
