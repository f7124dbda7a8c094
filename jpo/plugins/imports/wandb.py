"""Weights & Biases: run-ID.wandb, the file into which its client puts everything of a run, online as well as offline.

It is a log of LevelDB's format (blocks of 32 KiB, records with a checksum) whose records are messages of wandb_internal.proto; of
these only a few fields are needed, so that they are read here and wandb need not be installed. config.yaml and
wandb-summary.json, which the client writes online alone, say nothing more. Cells are called as in W&B's exports, behind config.
and summary.; GPU utilisation and memory are those that its monitor saw.
"""

import json
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from jpo.files import reading
from jpo.plugins.imports.foreign import (
    MOST_CELLS,
    ForeignColumn,
    ForeignRun,
    ForeignRuns,
    add_point,
    flat,
    is_of_a_step,
    unreadable,
)
from jpo.records import Skipped
from jpo.telemetry.outcome import UNTOLD

FILES = "run-*.wandb"
MAGIC = b":W&B\xe1\xbe"
BLOCK_BYTES, HEAD_BYTES = 32 * 2**10, 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
"""Kinds of the parts of a record."""
LARGEST_RECORD_BYTES = 16 * 2**20
LARGEST_FILE_BYTES = 512 * 2**20
"""Two minutes of reading (3.6 MB a second); a run of weeks writes some ten MiB."""
HISTORY, SUMMARY, CONFIG, STATS, RUN, EXIT = 2, 3, 5, 7, 17, 18
"""Numbers of the fields of Record; of RUN: 1 its id, 4 its config, 8 its name, 17 its start."""
ITEM = {HISTORY: 1, SUMMARY: 1, CONFIG: 1, STATS: 3}
"""Number of the repeated field of names and values in each."""
NAME, NESTED, VALUE = 1, 2, 16
STARTED, ENDED, EXITED = "(started)", "(last record)", "(exit code)"
GPU_BUSY, GPU_MEMORY, MEMORY = "(system: mean gpu utilisation)", "(system: highest gpu memory)", "(system: highest memory)"
KNOWN = {
    "run_id": ForeignColumn("(run id)", None, "wandb"),
    "status": ForeignColumn(EXITED, None, "wandb"),
    "started_at": ForeignColumn(STARTED, "s", "wandb"),
    "ended_at": ForeignColumn(ENDED, "s", "wandb"),
    "duration_seconds": ForeignColumn("", None, "wandb"),  # from start to the last record
    "gpu_utilisation": ForeignColumn(GPU_BUSY, "percent", "wandb"),
    "gpu_memory_gib": ForeignColumn(GPU_MEMORY, "B", "wandb"),
    "peak_memory_gib": ForeignColumn(MEMORY, "MB", "wandb"),
}
NO_END = "its file has no end: the run is still going, was killed (the client writes in blocks), or the file was copied in part"
Fields = list[tuple[int, int | bytes]]
"""A protobuf message: number of each field, and its bytes, or its number as it stands there."""


class _RunSoFar:
    """What the records of a run hold so far."""

    def __init__(self) -> None:
        self.run_id = ""
        self.cells: dict[str, str] = {}
        self.curves: dict[str, list[tuple[float, float]]] = {}
        self.started, self.ended = math.nan, -math.inf
        self.busy: list[float] = []
        self.gpu_memory, self.memory = -math.inf, -math.inf
        self.exit_code: int | None = None  # none on record: it has no end

    def take(self, record: Fields, place: Path) -> None:
        for number, value in record:
            if number == RUN and isinstance(value, bytes):
                self._run(dict(_fields(value)), place)
            elif number == EXIT and isinstance(value, bytes):
                code = dict(_fields(value)).get(1, 0)
                self.exit_code = code if isinstance(code, int) else 0
            elif number in ITEM and isinstance(value, bytes):
                self._values(number, value, place)

    def _run(self, run: Mapping[int, int | bytes], place: Path) -> None:
        self.run_id = _text(run.get(1)) or self.run_id
        self._add("", {"name": _text(run.get(8)), "project": _text(run.get(3))}, place)
        if isinstance(config := run.get(4), bytes):
            self._values(CONFIG, config, place)
        if isinstance(start := run.get(17), bytes):
            self.started = _moment(start)

    def _values(self, kind: int, message: bytes, place: Path) -> None:
        values = {name: value for name, value in _items(message, ITEM[kind]) if not name.startswith("_wandb")}
        if kind == STATS:
            self._system(values, message)
            return
        for name in ("_timestamp", "_runtime"):
            moment = values.get(name)
            if isinstance(moment, int | float) and math.isfinite(moment):
                self.ended = max(self.ended, moment if name == "_timestamp" else self.started + moment)
        step = values.get("epoch", values.get("_step"))
        told = {name: value for name, value in values.items() if not name.startswith("_")}
        if kind == CONFIG:
            self._add("config.", told, place)
            return
        self._add("summary.", {name: value for name, value in told.items() if not is_of_a_step(name)}, place)
        for name, value in told.items() if kind == HISTORY else ():
            if "loss" in name.lower() and isinstance(value, int | float) and isinstance(step, int | float):
                add_point(self.curves, f"summary.{name}", float(step), float(value))

    def _system(self, values: Mapping[str, object], message: bytes) -> None:
        """What W&B's monitor saw: gpu.0.gpu in percent, gpu.0.memoryAllocatedBytes, proc.memory.rssMB."""
        moments = (_moment(value) for number, value in _fields(message) if number == 2 and isinstance(value, bytes))
        self.ended = max([self.ended, *moments])
        for name, value in values.items():
            if not isinstance(value, int | float) or not math.isfinite(value):
                continue
            if name.startswith("gpu.") and name.endswith(".gpu") and "process" not in name:
                self.busy.append(value)
            elif name.startswith("gpu.") and name.endswith(".memoryAllocatedBytes") and "process" not in name:
                self.gpu_memory = max(self.gpu_memory, value)
            elif name == "proc.memory.rssMB":
                self.memory = max(self.memory, value)

    def _add(self, group: str, values: Mapping[str, object], place: Path) -> None:
        self.cells |= flat({f"{group}{name}": value for name, value in values.items()}, place)
        if len(self.cells) > MOST_CELLS:
            raise unreadable(place, f"contains more than {MOST_CELLS} values", "keep those of the run")


def read_wandb(path: Path) -> ForeignRuns:
    """The run of a file, or of the folder that holds it.

    Raises TelemetryError: JPO-E150, a file is cut off, damaged, too large or none.
    """
    files = sorted(path.glob(FILES)) if path.is_dir() else [path]
    if len(files) != 1:
        raise unreadable(path, f"contains {len(files)} files {FILES}", "name the folder of one run")
    found, file = _RunSoFar(), files[0]
    for record in records(file):
        try:
            found.take(list(_fields(record)), file)
        except ValueError as error:
            raise unreadable(file, f"contains a record that cannot be read ({error})", "was it written by wandb?") from error
    if found.exit_code is None:
        return ForeignRuns("wandb", str(path), (), KNOWN, (Skipped(str(path), NO_END, UNTOLD),))
    if not found.run_id or not math.isfinite(found.started):
        raise unreadable(file, "says neither which run it is of nor when that began", "name a file that wandb wrote")
    cells = {
        **found.cells,
        "(run id)": found.run_id,
        EXITED: "failed" if found.exit_code else "finished",
        STARTED: repr(found.started),
        ENDED: repr(max(found.started, found.ended)),
    }
    cells |= {GPU_BUSY: repr(math.fsum(found.busy) / len(found.busy))} if found.busy else {}
    seen = {GPU_MEMORY: found.gpu_memory, MEMORY: found.memory}
    cells |= {name: repr(value) for name, value in seen.items() if math.isfinite(value)}
    curves = {name: tuple(curve) for name, curve in found.curves.items()}
    return ForeignRuns("wandb", str(path), (ForeignRun(str(path), found.run_id, cells, curves),), KNOWN)


def records(path: Path) -> Iterator[bytes]:
    """The records of a file, block by block, but for one that is cut off at its end; raises as `read_wandb`."""
    refusal = partial(unreadable, path)
    with reading.opened(path, refusal) as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size > LARGEST_FILE_BYTES:
            raise refusal(f"is larger than {reading.in_words(LARGEST_FILE_BYTES)}")
        if file.read(HEAD_BYTES)[: len(MAGIC)] != MAGIC:
            raise refusal("is not a file that wandb wrote")
        place, record = HEAD_BYTES, b""
        while place < size:
            if BLOCK_BYTES - place % BLOCK_BYTES < HEAD_BYTES:  # the rest of a block has no room for a head
                place += BLOCK_BYTES - place % BLOCK_BYTES
                file.seek(place)
                continue
            head = file.read(HEAD_BYTES)
            if len(head) < HEAD_BYTES:
                return
            checksum, length, kind = struct.unpack("<IHB", head)
            part = file.read(length)
            if len(part) < length:
                return
            if kind not in (WHOLE, FIRST, MIDDLE, LAST) or zlib.crc32(part, zlib.crc32(head[-1:])) != checksum:
                finding = f"is damaged: {place} of {size} bytes are whole"
                raise unreadable(path, finding, "copy the file again; if that is all there is, leave the run out")
            place += HEAD_BYTES + length
            record = part if kind in (WHOLE, FIRST) else record + part
            if len(record) > LARGEST_RECORD_BYTES:
                raise refusal(f"has a record of more than {reading.in_words(LARGEST_RECORD_BYTES)}")
            if kind in (WHOLE, LAST):
                yield record


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and content of each field of a protobuf message; raises ValueError where it ends too early."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == 2:
            length, place = _varint(message, place)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of the kind {kind}")
        if place + length > len(message):
            raise ValueError("a field that is longer than its message")
        yield key >> 3, message[place : place + length]
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A number of up to ten bytes, seven bits in each, and the place behind it."""
    value = 0
    for shift, byte in enumerate(message[place : place + 10]):
        value |= (byte & 127) << (7 * shift)
        if byte < 128:
            return value, place + shift + 1
    raise ValueError("a number without an end")


def _items(message: bytes, repeated: int) -> Iterator[tuple[str, object]]:
    """Names and values of a config, a summary, a step or a look of the monitor."""
    for number, item in _fields(message):
        if number == repeated and isinstance(item, bytes):
            parts = list(_fields(item))
            nested = [_text(value) for which, value in parts if which == NESTED]
            name = ".".join(nested) or _text(next((value for which, value in parts if which == NAME), b""))
            written = next((value for which, value in parts if which == VALUE), None)
            if name and isinstance(written, bytes):
                yield name, _value(written)


def _value(written: bytes) -> object:
    """A value as JSON, with NaN and infinity; None for what is none, or is nested for ever."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None


def _text(value: int | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _moment(message: bytes) -> float:
    """A protobuf Timestamp: seconds and nanoseconds."""
    said: Mapping[int, int | bytes] = dict(_fields(message))
    seconds, nanos = said.get(1, 0), said.get(2, 0)
    return seconds + nanos / 1e9 if isinstance(seconds, int) and isinstance(nanos, int) else math.nan
