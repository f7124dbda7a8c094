"""Output of a run: what its processes print, from a pipe into a file for the user alone. It never fills the disk."""

import os
import select
import time
from contextlib import suppress
from pathlib import Path

PIECE_BYTES = 2**18
MOST_BYTES = 64 * 2**20
"""Of the file; then what is in it becomes the older one (output.log.1), and what was in that is gone: the end tells most."""
REST_SECONDS, REST_AT_MOST_SECONDS = 0.2, 2.0


class RunOutput:
    """What goes through one pipe, from its readable end into a file that is made for the user alone.

    Where that cannot be written, as on a full disk, the job goes on, and what it prints is lost.
    """

    def __init__(self, source: int, file: Path, most_bytes: int = MOST_BYTES) -> None:
        self.source = source
        self._file, self._most = file, most_bytes
        self._handle = self._opened()
        self._size = 0 if self._handle is None else os.fstat(self._handle).st_size

    def take(self) -> bool:
        """Take what is there; False when no process holds the other end any more."""
        piece = os.read(self.source, PIECE_BYTES)
        if self._size + len(piece) > self._most:
            self._turn()
        if self._handle is not None:
            with suppress(OSError):  # full: what comes later may fit again
                self._size += os.write(self._handle, piece)
        return bool(piece)

    def take_rest(self) -> None:
        """Take what is left in the pipe; a process that ran away to another user may still hold it, so nobody waits."""
        until = time.monotonic() + REST_AT_MOST_SECONDS
        while time.monotonic() < until and select.select([self.source], [], [], REST_SECONDS)[0] and self.take():
            pass

    def _turn(self) -> None:
        with suppress(OSError):
            self._file.replace(self._file.with_name(f"{self._file.name}.1"))
            if self._handle is not None:
                os.close(self._handle)
            self._handle, self._size = self._opened(), 0

    def _opened(self) -> int | None:
        with suppress(OSError):
            return os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        return None
