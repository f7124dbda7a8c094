"""Leases: GPUs and CPUs that runs of JPO hold on this machine, whichever project they belong to.

A lease is a locked file in a folder of the user's alone; the lock goes with the process that holds it, however that ends.
"""

import fcntl
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from jpo.errors import LaunchError


def usual_folder() -> Path:
    """Where leases of this user are: gone after a restart, as they should be."""
    own = Path(f"/run/user/{os.getuid()}")
    return own / "jpo-leases" if own.is_dir() else Path(f"/tmp/jpo-leases-{os.getuid()}")  # noqa: S108 - checked by `opened`


def taken(folder: Path, names: Iterable[str], count: int) -> dict[str, int]:
    """Leases of the first `count` of these things that nobody holds: name -> descriptor; none where fewer are free.

    LaunchError JPO-E752 where the folder cannot be used.
    """
    held = _taken(folder, names, count)
    if len(held) == count:
        return held
    give_back(held.values())
    return {}


def free(folder: Path, names: Sequence[str]) -> list[str]:
    """Those of these things that nobody holds."""
    held = _taken(folder, names, len(names), looks=True)
    return [name for name in names if name in held]


def give_back(handles: Iterable[int]) -> None:
    """Close leases here; a process that was handed a copy goes on holding it."""
    for handle in handles:
        with suppress(OSError):
            os.close(handle)


def _taken(folder: Path, names: Iterable[str], count: int, *, looks: bool = False) -> dict[str, int]:
    """One process at a time looks or takes: who looks holds all that is free for a moment, and others would find it in use."""
    held, alone = dict[str, int](), _locked(folder, "look", fcntl.LOCK_EX)
    try:
        for name in names:
            if len(held) < count and (handle := _locked(folder, name, fcntl.LOCK_EX | fcntl.LOCK_NB)) is not None:
                held[name] = handle
    except LaunchError:
        looks = True
        raise
    finally:
        give_back([*(held.values() if looks else ()), *([] if alone is None else [alone])])
    return held


def _locked(folder: Path, name: str, how: int) -> int | None:
    """The descriptor of a locked lease; None: another process has it, for which this one does not wait."""
    handle = None
    try:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        there = folder.lstat()
        if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.getuid():
            raise PermissionError(None, "belongs to somebody else")
        handle = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(handle, how)
        return handle
    except OSError as error:
        give_back([handle] if handle is not None else [])
        if isinstance(error, BlockingIOError):
            return None
        remedy = "check owner, mode and disk"
        raise LaunchError(str(folder), f"cannot be used ({error.strerror})", remedy, code="JPO-E752") from error
