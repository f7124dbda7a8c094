"""Follower of a CSV log that its job still writes: new rows only, until the run is over, even if the file is replaced meanwhile.

`Tail` reads the file once per call and knows no clock; `follow` polls it and decides when the run is over. The run that is
recorded in the end consists of the lines read here, not of what the file's name refers to by then.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Literal, Self

from jpo.errors import TelemetryError
from jpo.records import Run
from jpo.telemetry import contract
from jpo.telemetry.csv.lines import LONGEST_LINE, Log, unreadable
from jpo.telemetry.csv.log import LARGEST_LOG_BYTES, decoded, opened, run_of
from jpo.telemetry.outcome import NONE_OWN, Own

POLL_SECONDS = 1.0
CHUNK_BYTES = 2**18
"""Read per poll: bounds memory also when the file is long already."""
OPENING_BYTES = 4096
"""How much of a file's beginning is compared at every poll: a file that was rewritten may be longer than before."""
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
    val_accuracy: float | None = None

    def samples_per_second(self, earlier: Self) -> float | None:
        if self.time is None or self.samples is None or earlier.time is None or earlier.samples is None:
            return None
        seconds, samples = self.time - earlier.time, self.samples - earlier.samples
        return samples / seconds if seconds > 0 and samples >= 0 else None


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """Result of one poll of a log.

    Attributes:
        rows: those not seen before, in order.
        change: the log is read from its start again: "rewritten" by the run with the same id, or "replaced" by another run's.
        state: "over": the job wrote how its run ended; "silent": nothing more is expected; "gone": deleted and not written again;
            "missing": there is no such file now, but one may appear.
        bytes_read: 0 when there was nothing new.
    """

    rows: tuple[LogRow, ...] = ()
    change: Change | None = None
    state: State = "running"
    bytes_read: int = 0


class Tail:
    """Tail of a log; a context manager that closes it.

    A file that is renamed or deleted is read to its end first: it stays open as long as there is something to read.
    """

    def __init__(self, path: Path, own: Own = NONE_OWN) -> None:
        self.log = Log(path, wanted=own.metrics)
        self._own = own
        self._path = path
        self._file: BufferedReader | None = None
        self._opening = self._unfinished = b""
        self._read = 0
        self._run_before: str | None = None

    def poll(self) -> LogUpdate:
        """Read what was added, at most CHUNK_BYTES at once; TelemetryError JPO-E110 where it is not a log, or no longer one."""
        try:
            if self._file is None:
                if not self._path.exists():
                    return LogUpdate(state="missing")
                self._file = opened(self._path)
            handle = self._file.fileno()
            if os.fstat(handle).st_size < self._read or os.pread(handle, len(self._opening), 0) != self._opening:
                if self.log.closed:  # the run that was followed is over; the file now belongs to the next one
                    return LogUpdate()
                self._restart()
            update = self._read_on(handle)
            if not (update.bytes_read or self.log.closed):
                with suppress(FileNotFoundError):
                    if not os.path.samestat(os.fstat(handle), self._path.stat()):  # the name refers to another file now
                        self.close()
                        self._restart()
                        return self.poll()
            return update if self._path.exists() else replace(update, state="missing")
        except OSError as error:
            raise unreadable(self._path, f"cannot be read ({error.strerror})", "let JPO read it") from error

    def run(self, now: float) -> Run:
        """The finished run that was read; arguments and errors as of `read_log`."""
        return run_of(self.log, now=now, own=self._own)

    @property
    def modified_at(self) -> float | None:
        """When the file was last written, by the clock of its disk; None while there is none."""
        return os.fstat(self._file.fileno()).st_mtime if self._file else None

    def _restart(self) -> None:
        self._run_before = self.log.head.get("run_id") or self._run_before
        self.log = Log(self._path, wanted=self.log.wanted)
        self._opening = self._unfinished = b""
        self._read = 0

    def _read_on(self, handle: int) -> LogUpdate:
        raw = os.pread(handle, CHUNK_BYTES, self._read)
        if len(self._opening) < OPENING_BYTES:
            self._opening += raw[: OPENING_BYTES - len(self._opening)]
        self._read += len(raw)
        if self._read > LARGEST_LOG_BYTES:
            raise unreadable(self._path, f"is larger than {LARGEST_LOG_BYTES // 2**20} MiB")
        rows = tuple(self._rows(raw))
        return LogUpdate(rows, self._change(), bytes_read=len(raw))

    def _rows(self, raw: bytes) -> Iterator[LogRow]:
        """The rows of the lines that are complete by now."""
        whole, newline, self._unfinished = (self._unfinished + raw).rpartition(b"\n")
        if len(self._unfinished) > LONGEST_LINE:
            raise unreadable(self._path, f"line {self.log.lines + 1} is longer than {LONGEST_LINE // 2**10} KiB")
        for line in decoded(whole).split("\n") if newline else ():
            row = self.log.take(line)
            if row:
                yield LogRow(**{name: value for name, value in row.items() if name in LogRow.__dataclass_fields__})

    def _change(self) -> Change | None:
        """How the log was replaced; returned once, as soon as the new contents name their run."""
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

    def __exit__(self, *_: object) -> None:
        self.close()


def follow(tail: Tail, *, clock: Callable[[], float], sleep: Callable[[float], None]) -> Iterator[LogUpdate]:
    """Poll a log until its run is over; yields every poll that found something, and the last with the state of its end.

    A run whose end is logged is over once nothing follows for one poll. Silence is timed by the clock here, so that a training
    machine with a slow clock does not look dead; of a file that existed before, from its modification.
    """
    state, changed_at = "running", None
    while True:
        update, now = tail.poll(), clock()
        if changed_at is None:
            changed_at = min(now, tail.modified_at or now)
        elif update.bytes_read:
            changed_at = now
        before, state = state, _state(update, tail.log, now, quiet_seconds=now - changed_at)
        if update.rows or update.change or state != before:
            yield replace(update, state=state)
        if state in ENDS:
            return
        if update.bytes_read < CHUNK_BYTES:  # otherwise there is more already
            sleep(POLL_SECONDS)


def _state(update: LogUpdate, log: Log, now: float, *, quiet_seconds: float) -> State:
    if update.bytes_read:
        return "running"
    if log.closed:
        return "over"
    if update.state == "missing":
        return "gone" if quiet_seconds > contract.STALE_SECONDS else "missing"
    waited = quiet_seconds > log.longest_silence_seconds
    return "silent" if waited and (log.silent(now) or "time" not in log.latest) else "running"


def gone(path: Path) -> TelemetryError:
    """JPO-E130 for a followed log that was deleted, or never written."""
    finding = f"there is no such log, and none appeared within {contract.STALE_SECONDS:g} s"
    return TelemetryError(str(path), finding, "nothing was recorded; start the job, or name its log", code="JPO-E130")
