"""Atomic replacement of files: a reader at any moment, or after a crash, finds the old file or the new one.

config.ini has a writer of its own (config/disk.py): there the old file must still be as it was read.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from jpo.errors import UsageError

TEMPORARY = ".jpo-new-"
"""Prefix of the new file until it replaces the old one."""


@contextmanager
def whole(file: Path, *, mode: int | None = None, over: bool = True) -> Iterator[BinaryIO]:
    """A new file that replaces this one, on disk, when the block ends without an error. A link stays a link.

    Args:
        mode: permissions; None: those of the file that it replaces, else those of any new file.
        over: whether it may replace one.

    Raises:
        FileExistsError: without `over`, there is a file already.
        UsageError: JPO-E307, it cannot be written.
    """
    target = Path(os.path.realpath(file))
    try:
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=target.parent)
        temporary = Path(name)
        try:
            with open(handle, "wb") as new:  # noqa: PTH123 - it is a descriptor
                yield new
                new.flush()
                os.fchmod(handle, _usual_mode(target) if mode is None else mode)
                os.fsync(handle)
            if over:
                temporary.replace(target)
            else:
                os.link(temporary, target)  # fails where a rename would replace a file that was created meanwhile
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()
    except FileExistsError:
        raise
    except OSError as error:
        raise UsageError(str(file), f"cannot be written ({error.strerror})", "name another one", code="JPO-E307") from error


def _usual_mode(target: Path) -> int:
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0o077)  # there is no other way to read it
    os.umask(mask)
    return 0o666 & ~mask
