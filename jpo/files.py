"""Files that are written whole or not at all: who reads one meanwhile, or after a crash, finds the old one or the new one.

config.ini has a way of its own (config/disk.py): there the old file must still be as it was read.
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

BESIDE = ".jpo-new-"
"""How the name of a file begins that is not whole yet."""


@contextmanager
def whole(file: Path, *, mode: int | None = None, over: bool = True) -> Iterator[BinaryIO]:
    """A file that takes the place of this one, on disk, when the block ends without an error. A link stays a link.

    Args:
        mode: permissions; None: those of the file that it replaces, else those of any new file.
        over: whether it may replace one.

    Raises:
        FileExistsError: without `over`, something is there.
        UsageError: JPO-E307, it cannot be written.
    """
    target = Path(os.path.realpath(file))
    try:
        handle, name = tempfile.mkstemp(prefix=BESIDE, dir=target.parent)
        draft = Path(name)
        try:
            with open(handle, "wb") as new:  # noqa: PTH123 - it is a descriptor
                yield new
                new.flush()
                os.fchmod(handle, _usual_mode(target) if mode is None else mode)
                os.fsync(handle)
            if over:
                draft.replace(target)
            else:
                os.link(draft, target)  # fails where a rename would replace a file made meanwhile
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
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
