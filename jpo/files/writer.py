"""The one writer: a reader at any moment, or after a crash, finds the old file or the new one.

A new file gets the permissions that any program's would get; one that replaces another gets the rights of that one (rights.py).
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from jpo.errors import UsageError
from jpo.files.links import followed, is_open_already
from jpo.files.rights import hand_on

TEMPORARY = ".jpo-new-"
"""Prefix of the new file until it replaces the old one."""

READER_SECONDS = 5.0
"""How long the reader of a pipe may take to come: a shell starts both at once."""
ELSEWHERE = "name another one"
"""What to do where a file cannot be written."""


@contextmanager
def whole(file: Path, *, mode: int | None = None, over: bool = True, remedy: str = ELSEWHERE) -> Iterator[BinaryIO]:
    """A new file that replaces this one, on disk, when the block ends without an error. A link stays a link.

    Args:
        file: what is not a plain file (/dev/stdout, a pipe) is written as it is; of a pipe a reader is waited for READER_SECONDS.
        mode: permissions; None: the rights of the file that it replaces, else those of any new file.
        over: whether it may replace one.

    Raises FileExistsError: without `over`, there is a file already; UsageError: JPO-E307, it cannot be written.
    """
    try:
        target = file if is_open_already(file) else followed(file)
        if target is file or (target.exists() and not target.is_file()):
            with _device(target) as device:
                yield device
        else:
            with successor(target, mode=mode, over=over) as new:
                yield new
    except FileExistsError:
        raise
    except OSError as error:
        raise _unwritable(file, error, remedy) from error


def refuse_unwritable(file: Path) -> None:
    """Find out before anything is done that `whole` would fail; UsageError JPO-E307 as there."""
    try:
        target = file if is_open_already(file) else followed(file)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
        if target.exists():
            refuse_write_protected(target)
        if (target.is_file() or not target.exists()) and not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, f"no file can be made in {target.parent}", str(file))
    except OSError as error:
        raise _unwritable(file, error, ELSEWHERE) from error


@contextmanager
def successor(
    target: Path,
    *,
    prefix: str = TEMPORARY,
    mode: int | None = None,
    over: bool = True,
    before_rename: Callable[[], object] = lambda: None,
) -> Iterator[BinaryIO]:
    """The same for a file without links on the way, with the system's errors.

    Args:
        prefix: how the name of the new file begins while it is written.
        before_rename: what must not fail in the last instant before the old file is gone.

    Raises:
        NotKept: the old file has something that the new one cannot get.
        OSError: anything else is in the way; the old file is as it was.
    """
    replaces = over and target.exists()
    if replaces:
        refuse_write_protected(target)
    temporary = target.with_name(f"{prefix}{os.urandom(8).hex()}")
    first_mode = 0o666 if mode is None and not replaces else 0o600  # the system takes the umask off, or a folder's ACL decides
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, first_mode)
    try:
        with open(handle, "wb") as new:  # noqa: PTH123 - it is a descriptor
            yield new
            new.flush()
            if mode is not None:
                os.fchmod(handle, mode)
            elif replaces:
                hand_on(target, handle)
            os.fsync(handle)
        before_rename()
        if over:
            temporary.replace(target)
        else:
            os.link(temporary, target)  # fails where a rename would replace a file that was created meanwhile
    finally:
        with suppress(OSError):  # the file is replaced by then, or what hinders that is said
            temporary.unlink()
    with suppress(OSError):  # so that the rename survives a power cut; where this fails (FUSE, SMB), it stands all the same
        handle = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refuse_write_protected(target: Path) -> None:
    """Refuse a file that this process may not write: a rename would replace it too, against its owner's wish.

    Raises PermissionError: it is write-protected for everyone (root included), or for this user.
    """
    if not stat.S_IMODE(target.stat().st_mode) & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "is write-protected", str(target))


def _device(target: Path) -> BinaryIO:
    """What is not a plain file, open for writing; OSError where it is a pipe that is not read."""
    deadline = time.monotonic() + READER_SECONDS
    while True:
        try:
            handle = os.open(target, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO or not target.is_fifo():
                raise
            if time.monotonic() > deadline:
                raise OSError(errno.ENXIO, "nobody reads this pipe", str(target)) from error
            time.sleep(0.02)
        else:
            os.set_blocking(handle, True)
            return open(handle, "wb")  # noqa: PTH123 - it is a descriptor


def _unwritable(file: Path, error: OSError, remedy: str) -> UsageError:
    return UsageError(str(file), f"cannot be written ({error.strerror})", remedy, code="JPO-E307")
