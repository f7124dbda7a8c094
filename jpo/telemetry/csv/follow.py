"""One CSV log while its job writes it: new rows only, until the run is over, whatever happens to the file meanwhile.

`Tail` looks at the file once per call and knows no clock; `follow` asks it again and again and decides when it is enough. The run
that is recorded in the end is made of the lines that were read here, not of what the file's name stands for by then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from jpo.errors import TelemetryError
from jpo.records import Run
from jpo.telemetry import contract
from jpo.telemetry.csv.lines import LONGEST_LINE, Log, unreadable
from jpo.telemetry.csv.log import LARGEST_LOG_BYTES, decoded, opened, run_of, too_large

POLL_SECONDS = 1.0
CHUNK_BYTES = 2**18
"""Read per look: bounds memory also when the file is long already."""
OPENING_BYTES = 4096
"""So much of a file's beginning is compared at every look: a file that was written anew may be longer than before."""

Change = Literal["rewritten", "replaced"]
State = Literal["running", "missing", "over", "silent", "gone"]
ENDS = ("over", "silent", "gone")


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of a log; None = not measured (or no such column), NaN = diverged."""

    time: float | None = None
    epoch: float | None = None
    samples: float | None = None
    train_loss: float | None = None
    val_loss: float | None = None

    def samples_per_second(self, earlier: LogRow) -> float | None:
        """Throughput since an earlier row."""
        if self.time is None or self.samples is None or earlier.time is None or earlier.samples is None:
            return None
        seconds, samples = self.time - earlier.time, self.samples - earlier.samples
        return samples / seconds if seconds > 0 and samples >= 0 else None


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """What one look brought.

    Attributes:
        rows: those not seen before, in order.
        change: the log is read from its start again: "rewritten" by the run with the same id, or "replaced" by another run's.
        state: "over": the job wrote how its run ended; "silent": nothing more will come; "gone": deleted and not written again;
            "missing": there is no such file now, but there may be soon.
        bytes_read: 0 when there was nothing new.
    """

    rows: tuple[LogRow, ...] = ()
    change: Change | None = None
    state: State = "running"
    bytes_read: int = 0


class Tail:
    """A log as far as it was read; a context manager that closes it.

    A file that is renamed or deleted is read to its end first: it stays open while something comes.
    """

    def __init__(self, path: Path) -> None:
        self.log = Log(path)
        self._path = path
        self._file: BufferedReader | None = None
        self._opening = self._unfinished = b""
        self._read = 0
        self._run_before: str | None = None

    def poll(self) -> LogUpdate:
        """Read on; at most CHUNK_BYTES at once.

        Raises:
            TelemetryError: JPO-E110, it is no log, or not any more.
        """
        try:
            if self._file is None and not self._open():
                return LogUpdate(state="missing")
            if self._written_anew():
                if self.log.closed:  # the run that was followed is over; what stands there now is the next one
                    return LogUpdate()
                self._begin_anew()
            update = self._read_on()
            if not update.bytes_read and not self.log.closed and self._other_file():
                self.close()
                self._begin_anew()
                return self.poll()
            return update if self._path.exists() else replace(update, state="missing")
        except OSError as error:
            raise unreadable(self._path, f"cannot be read ({error.strerror})", "let JPO read it") from error

    def run(self, now: float) -> Run:
        """The finished run which was read; raises as `read_log`."""
        return run_of(self.log, now=now)

    @property
    def modified_at(self) -> float | None:
        """When the file was last written, by the clock of its disk; None while there is none."""
        return os.fstat(self._file.fileno()).st_mtime if self._file else None

    def _open(self) -> bool:
        if not self._path.exists():
            return False
        self._file = opened(self._path)
        return True

    def _written_anew(self) -> bool:
        """Shorter than what was read, or with another beginning."""
        assert self._file is not None
        handle = self._file.fileno()
        return os.fstat(handle).st_size < self._read or os.pread(handle, len(self._opening), 0) != self._opening

    def _other_file(self) -> bool:
        """Whether the name stands for another file now."""
        assert self._file is not None
        try:
            return not os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False

    def _begin_anew(self) -> None:
        self._run_before = self.log.head.get("run_id") or self._run_before
        self.log = Log(self._path)
        self._opening = self._unfinished = b""
        self._read = 0

    def _read_on(self) -> LogUpdate:
        assert self._file is not None
        raw = os.pread(self._file.fileno(), CHUNK_BYTES, self._read)
        if len(self._opening) < OPENING_BYTES:
            self._opening += raw[: OPENING_BYTES - len(self._opening)]
        self._read += len(raw)
        if self._read > LARGEST_LOG_BYTES:
            raise too_large(self._path)
        rows = tuple(self._rows(raw))
        return LogUpdate(rows, self._change(), bytes_read=len(raw))

    def _rows(self, raw: bytes) -> Iterator[LogRow]:
        """The rows in the lines that are whole by now."""
        whole, newline, self._unfinished = (self._unfinished + raw).rpartition(b"\n")
        if len(self._unfinished) > LONGEST_LINE:
            raise unreadable(self._path, f"line {self.log.lines + 1} is longer than {LONGEST_LINE // 2**10} KiB")
        for line in decoded(whole).split("\n") if newline else ():
            row = self.log.take(line)
            if row:
                yield LogRow(**row)

    def _change(self) -> Change | None:
        """Told once, as soon as the log that begins anew has named its run."""
        before, now = self._run_before, self.log.head.get("run_id")
        if not (before and now):
            return None
        self._run_before = None
        return "rewritten" if before == now else "replaced"

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def follow(tail: Tail, *, clock: Callable[[], float], sleep: Callable[[float], None]) -> Iterator[LogUpdate]:
    """Look again and again until the run is over; gives every look that brought something, and at last how it ended.

    A job that said how its run ended is over once nothing follows for one look. Silence counts from what was seen here, so that a
    training machine whose clock is slow does not look dead; of a file that was there before, from when it was written.

    Args:
        clock: unix seconds.
        sleep: waits for so many seconds.
    """
    state, heard_at = "running", None
    while True:
        update, now = tail.poll(), clock()
        if heard_at is None:
            heard_at = min(now, tail.modified_at or now)
        elif update.bytes_read:
            heard_at = now
        before, state = state, _state(update, tail.log, now, quiet_seconds=now - heard_at)
        if update.rows or update.change or state != before:
            yield replace(update, state=state)
        if state in ENDS:
            return
        if update.bytes_read < CHUNK_BYTES:  # else there is more at once
            sleep(POLL_SECONDS)


def _state(update: LogUpdate, log: Log, now: float, *, quiet_seconds: float) -> State:
    if update.bytes_read:
        return "running"
    if log.closed:
        return "over"
    if update.state == "missing":
        return "gone" if quiet_seconds > contract.STALE_SECONDS else "missing"
    waited = quiet_seconds > log.patience_seconds
    return "silent" if waited and (log.silent(now) or "time" not in log.latest) else "running"


def gone(path: Path) -> TelemetryError:
    """JPO-E130: a followed log was deleted, or never written."""
    finding = f"there is no such log, and none came for {contract.STALE_SECONDS:g} s"
    return TelemetryError(str(path), finding, "nothing was recorded; start the job, or name its log", code="JPO-E130")
