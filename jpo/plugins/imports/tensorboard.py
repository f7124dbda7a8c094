"""TensorBoard: folders of event files, by tensorboard's own reader.

A run is a folder with event files; hyperparameters are those of add_hparams (which torch puts into a folder of their own, named
by a time, below the run's) and of Hugging Face's "args". The first and last event say when it began and ended; whether it went
through, nothing says. Files are read record by record, in the memory of one: a file that is cut off or damaged is an error, since
its last values are not the run's.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jpo.errors import TelemetryError, UsageError
from jpo.files import reading
from jpo.plugins.imports.foreign import (
    MOST_CELLS,
    ForeignColumn,
    ForeignRun,
    ForeignRuns,
    add_point,
    as_text,
    digest_of,
    flat,
    is_of_a_step,
    unreadable,
)

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

EVENTS = "events.out.tfevents."
LARGEST_FILE_BYTES = 4 * 2**30
LARGEST_RECORDS_BYTES = 256 * 2**20
"""Of records that may hold scalars: checksums and contents are read in Python, 3 MB in a second. Scalars of a week are few."""
LARGEST_RECORD_BYTES = 2**16
"""Of a record with scalars or hyperparameters; what is larger is an image, a histogram or a graph, and is passed over."""
HEAD_BYTES, CHECKSUM_BYTES = 12, 4
"""Before a record its length and that number's checksum, behind it its own (TFRecord)."""
TIME = re.compile(r"\d{9,}(?:\.\d+)?")
"""Name of the folder that add_hparams makes."""
ARGUMENTS = {"args/text_summary", "model_config/text_summary"}
"""What Hugging Face's callback writes as JSON."""
COUNTED_FROM_0 = {"epoch"}
"""Lightning's, which is one less than the epochs that are done."""
STARTED, ENDED = "(first event)", "(last event)"
KNOWN = {
    "started_at": ForeignColumn(STARTED, "s", "tensorboard"),
    "ended_at": ForeignColumn(ENDED, "s", "tensorboard"),
    "duration_seconds": ForeignColumn("", None, "tensorboard"),  # from the first event to the last
    "epochs_done": ForeignColumn("train/epoch", None, "tensorboard"),
}
NO_END = "tensorboard: no file says how a run ended; the last event counts as its end, and it as succeeded"


class _Contents:
    """What the event files of one run hold so far."""

    def __init__(self) -> None:
        self.scalars: dict[str, float] = {}
        self.curves: dict[str, list[tuple[float, float]]] = {}
        self.hparams: dict[str, str] = {}
        self.first, self.last = math.inf, -math.inf

    def take(self, event: "Event", place: Path) -> None:
        self.first = min(self.first, event.wall_time)  # the first of all says which version wrote it: the writer was made then
        for value in event.summary.value:
            self.last = max(self.last, event.wall_time)
            if value.metadata.plugin_data.plugin_name == "hparams":
                self.hparams |= _hparams(value.metadata.plugin_data.content)
            elif value.tag in ARGUMENTS:
                self.hparams |= _arguments(value, place)
            elif (scalar := _scalar(value)) is not None:
                self._point(value.tag, float(event.step), scalar, place)

    def _point(self, tag: str, step: float, scalar: float, place: Path) -> None:
        if tag not in self.scalars and len(self.scalars) == MOST_CELLS:
            raise unreadable(place, f"contains more than {MOST_CELLS} tags", "keep those of the run")
        self.scalars[tag] = scalar
        add_point(self.curves, tag, step, scalar)


def read_tensorboard(path: Path) -> ForeignRuns:
    """The run of a folder with event files, or of one such file.

    Raises TelemetryError: JPO-E150, a file is cut off, damaged, too large or none; with the number of the record. UsageError:
    JPO-E156, tensorboard is not installed.
    """
    files = event_files(path) if path.is_dir() else [path]
    if not files:
        raise unreadable(path, f"contains no file {EVENTS}*", "name the folder of a run")
    found = _Contents()
    for file in files:
        for event in events(file):
            found.take(event, file)
    if not found.scalars:
        raise unreadable(path, "contains no scalar", "name the folder that its SummaryWriter logged to")
    measured = {tag: as_text(value) for tag, value in found.scalars.items() if not (is_of_a_step(tag) or tag in COUNTED_FROM_0)}
    cells = {**measured, **found.hparams, STARTED: repr(found.first), ENDED: repr(found.last)}
    key = digest_of([("file", files[0].name), ("folder", files[0].absolute().parent.name)])
    curves = {tag: tuple(curve) for tag, curve in found.curves.items()}
    run = ForeignRun(str(path), key, cells, curves, silent=True)
    return ForeignRuns("tensorboard", str(path), (run,), KNOWN, notes=(NO_END,))


def event_files(folder: Path) -> list[Path]:
    """The event files of a run, oldest first: those of the folder, then what add_hparams put below it."""
    try:
        below = sorted(path for path in folder.iterdir() if path.is_dir() and TIME.fullmatch(path.name))
        return [file for place in (folder, *below) for file in sorted(place.glob(f"{EVENTS}*"))]
    except OSError as error:
        raise unreadable(folder, f"cannot be read ({error.strerror})") from error


def events(path: Path) -> "Iterator[Event]":
    """The events of one file, one by one; raises as `read_tensorboard`."""
    try:
        from google.protobuf.message import DecodeError
        from tensorboard.compat.proto.event_pb2 import Event
    except ImportError as error:
        raise UsageError(str(path), "needs tensorboard", 'pip install "jpo[tensorboard]"', code="JPO-E156") from error
    for number, record in enumerate(records(path), start=1):
        try:
            yield Event.FromString(record)
        except DecodeError as error:
            raise unreadable(f"{path}: record {number}", "is not an event", "copy the file again") from error


def records(path: Path) -> Iterator[bytes]:
    """The records of one file that may hold scalars, one by one; the others empty."""
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

    with reading.opened(path, partial(unreadable, path)) as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size > LARGEST_FILE_BYTES:
            raise unreadable(path, f"is larger than {reading.in_words(LARGEST_FILE_BYTES)}", "name a copy without its images")
        number, taken, read = 0, 0, 0
        while taken < size or not size:
            number += 1
            head = file.read(HEAD_BYTES)
            length = int.from_bytes(head[:8], "little")
            whole = len(head) == HEAD_BYTES and masked_crc32c(head[:8]) == int.from_bytes(head[8:], "little")
            if not whole or taken + HEAD_BYTES + length + CHECKSUM_BYTES > size:
                raise _cut_off(path, number, taken, size)
            taken += HEAD_BYTES + length + CHECKSUM_BYTES
            if length > LARGEST_RECORD_BYTES:
                file.seek(taken)
                yield b""
                continue
            read += length
            record, checksum = file.read(length), file.read(CHECKSUM_BYTES)
            if masked_crc32c(record) != int.from_bytes(checksum, "little"):
                raise _cut_off(path, number, taken - HEAD_BYTES - length - CHECKSUM_BYTES, size)
            if read > LARGEST_RECORDS_BYTES:
                limit = reading.in_words(LARGEST_RECORDS_BYTES)
                raise unreadable(f"{path}: record {number}", f"more than {limit} of scalars", "keep those of the run")
            yield record


def _cut_off(path: Path, number: int, taken: int, size: int) -> TelemetryError:
    finding = f"is cut off or damaged: {taken} of {size} bytes are whole"
    remedy = "copy the file again; if that is all there is, leave the run out"
    return unreadable(f"{path}: record {number}", finding, remedy)


def _scalar(value: "Summary.Value") -> float | None:
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if value.metadata.plugin_data.plugin_name != "scalars":
        return None
    return next((float(one[0]) for one in (value.tensor.float_val, value.tensor.double_val) if len(one) == 1), None)


def _hparams(content: bytes) -> Mapping[str, str]:
    """What add_hparams says that a run began with."""
    from google.protobuf.message import DecodeError
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    try:
        told = HParamsPluginData.FromString(content).session_start_info.hparams
    except DecodeError:
        return {}  # what its plugin cannot read either
    values = {name: getattr(value, value.WhichOneof("kind") or "null_value") for name, value in sorted(told.items())[:MOST_CELLS]}
    return {name: text for name, value in values.items() if isinstance(value, str | float | bool) and (text := as_text(value))}


def _arguments(value: "Summary.Value", place: Path) -> Mapping[str, str]:
    """Arguments of Hugging Face's Trainer, and of its model."""
    texts: Sequence[bytes] = value.tensor.string_val
    try:
        document = json.loads(texts[0]) if texts else {}
    except (ValueError, RecursionError):
        return {}  # a text of somebody else under the same name
    return flat(document, place) if isinstance(document, dict) else {}
