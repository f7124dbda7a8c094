"""Traces of resources: what each execution of a container used at each sample, read from CSV with every row checked.

A file has one row per sample: execution, time, and one column per resource. AI4DL's columns are found without an option, and
so are the usual names of the same things; others are named by `TraceColumns`, in other units by the names of `units.UNITS`. Rows
of several executions may be interleaved; within one of them time must go on. Sampling may be irregular and have gaps.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jpo import reading
from jpo.errors import UsageError
from jpo.phases import units
from jpo.reading import contents

Floats = NDArray[np.float64]
LARGEST_BYTES = 512 << 20
"""A larger file is no trace that fits into memory."""
LARGEST = 1e18
"""Of any measurement: an exabyte. Beyond it sums of squares would not stay exact."""
LATEST = 1e19
"""Of any time: nanoseconds of the year 2286."""
DELIMITERS = (",", ";", "\t")
"""Of cells: the one that the header has most of, of several the first."""
SHOWN_COLUMNS = 12
"""Of a file, in a message."""

EXECUTION = "execution"
TIME, CPU, MEMORY = units.TIME, units.CPU, units.MEMORY
GPU = "gpu_utilisation"
GPU_MEMORY = "gpu_memory_bytes"
USUAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        EXECUTION: ("pod.id", "exec_id", "execution", "execution_id", "run_id", "pod", "container", "id"),
        TIME: ("timestamp", "time", "t", "ts", "unix_seconds"),
        CPU: ("cpu.usage.cores", "cpu_cores", "cpu_usage_cores", "cpu"),
        MEMORY: ("mem.working.set", "memory_bytes", "memory_working_set_bytes", "mem_bytes", "memory", "mem"),
        GPU: ("gpu_utilisation", "gpu_utilization", "gpu.usage", "gpu.util", "gpu"),
        GPU_MEMORY: ("gpu_memory_bytes", "gpu.memory", "gpu.mem.used"),
    }
)
"""TraceColumns by which a quantity is found where none is named; the first that the file has. AI4DL's come first."""
ALWAYS = (CPU, MEMORY)
"""Features that a file must have unless others are named; GPU columns are taken where they are."""


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """Names of a file's columns.

    Attributes:
        named: header of a quantity (`execution`, `time`, a feature, or one of `units.UNITS`); what is absent is found by USUAL.
        features: the features to read, in this order; empty: CPU, memory, and GPU where it is measured.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class ResourceCourse:
    """One execution's samples.

    Attributes:
        execution: its id.
        times: shape (n,), Unix seconds, strictly ascending; n is at least 2.
        values: shape (n, features), what was used, finite and not negative.
    """

    execution: str
    times: Floats
    values: Floats

    def __post_init__(self) -> None:
        assert self.times.shape == self.values.shape[:1]
        assert len(self.times) >= 2

    @property
    def seconds(self) -> float:
        """From the first to the last sample."""
        return float(self.times[-1] - self.times[0])


@dataclass(frozen=True, eq=False, slots=True)
class Traces:
    """Executions with the same features.

    Attributes:
        features: names of the columns of every course's values; what ends in `_bytes` is a size.
        courses: at least one, in the order in which they begin in the file.
        place: the file, for messages.
        notes: what was converted, or looks odd.
    """

    features: tuple[str, ...]
    courses: tuple[ResourceCourse, ...]
    place: str = "traces"
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        return sum(len(course.times) for course in self.courses)

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(len(course.times) for course in self.courses)

    def stacked(self) -> Floats:
        """All values, shape (samples, features), execution after execution."""
        return np.concatenate([course.values for course in self.courses])

    def only(self, executions: Sequence[str]) -> Traces:
        """The same with these executions alone.

        Raises:
            UsageError: JPO-E734, there is none of that name.
        """
        known = {course.execution: course for course in self.courses}
        for execution in executions:
            if execution not in known:
                some = ", ".join([*known][:SHOWN_COLUMNS])
                raise UsageError(self.place, f"has no execution {execution!r:.80}", f"it has {some}", code="JPO-E734")
        return replace(self, courses=tuple(known[execution] for execution in executions))

    def narrowed(self, features: Sequence[str]) -> Traces:
        """The same with these features alone, in this order.

        Raises:
            UsageError: JPO-E731, one of them was not read.
        """
        for feature in features:
            if feature not in self.features:
                finding = f"has no feature {feature}, which is needed here (it has {', '.join(self.features)})"
                raise UsageError(self.place, finding, f"name its column: --column {feature}=HEADER", code="JPO-E731")
        at = [self.features.index(feature) for feature in features]
        courses = tuple(ResourceCourse(course.execution, course.times, course.values[:, at]) for course in self.courses)
        return replace(self, features=tuple(features), courses=courses)


class _Place(NamedTuple):
    """Where a quantity stands in a row, and in which of `units.UNITS`, None: its own."""

    at: int
    unit: str | None = None

    @property
    def parts(self) -> float:
        """By which a measurement is divided."""
        return units.UNITS[self.unit][2] if self.unit else 1.0


class _Sample(NamedTuple):
    """A row: its number, its time as written or of a date, and its measurements."""

    number: int
    time: float
    is_date: bool
    values: list[float]


def read_traces(path: Path, columns: TraceColumns | None = None) -> Traces:
    """The executions in a CSV file.

    Raises:
        UsageError: JPO-E730, the file cannot be read or a row says what cannot be: file, execution and row are named;
            JPO-E731, it lacks a column.
    """
    columns = columns or TraceColumns()
    rows = _rows(path)
    number, header = next(rows, (0, []))
    if not header:
        raise _malformed(str(path), "is empty", "name a CSV file with a header and one row per sample")
    places = _places(path, number, [name.strip() for name in header], columns)
    measured = [(name, place.at, place.parts) for name, place in places.items() if name not in (EXECUTION, TIME)]
    found: dict[str, list[_Sample]] = {}
    for number, cells in rows:
        if len(cells) != len(header):
            raise _malformed(f"{path}:{number}", f"has {len(cells)} cells below {len(header)} columns")
        execution = cells[places[EXECUTION].at].strip() if EXECUTION in places else path.stem
        where = f"{path}:{number}: execution {execution:.80}"
        if not execution:
            raise _malformed(f"{path}:{number}", "names no execution")
        time, is_date = _time(where, cells[places[TIME].at].strip())
        values = [_measured(where, name, cells[at]) / parts for name, at, parts in measured]
        found.setdefault(execution, []).append(_Sample(number, time, is_date, values))
    if not found:
        raise _malformed(str(path), "has a header and no sample below it", "name a file with one row per sample")
    _require_order(path, found)
    return _traces(path, places, found)


def _require_order(path: Path, found: Mapping[str, Sequence[_Sample]]) -> None:
    """Each execution has two samples, and its time goes on."""
    for execution, samples in found.items():
        if len(samples) < 2:
            where = f"{path}:{samples[0].number}: execution {execution:.80}"
            raise _malformed(where, "has one sample only", "remove it: a course begins with two samples")
        for before, after in pairwise(samples):
            if after.time > before.time:
                continue
            where = f"{path}:{after.number}: execution {execution:.80}"
            if after.time == before.time:
                finding = f"has the same time as row {before.number} ({after.time:.15g})"
                raise _malformed(where, finding, "keep one sample for each time")
            finding = f"time goes back, from {before.time:.15g} in row {before.number} to {after.time:.15g}"
            raise _malformed(where, finding, "sort the rows of each execution by time; a restart is an execution of its own")


def _traces(path: Path, places: Mapping[str, _Place], found: Mapping[str, Sequence[_Sample]]) -> Traces:
    """Samples in order as courses in seconds, cores and bytes, with what was converted or looks odd."""
    features = tuple(name for name in places if name not in (EXECUTION, TIME))
    every = [sample for samples in found.values() for sample in samples]
    is_date = np.array([sample.is_date for sample in every])
    times, converted = units.in_seconds(np.array([sample.time for sample in every]), is_date, str(path), places[TIME].unit)
    values = np.array([sample.values for sample in every], dtype=np.float64).reshape(len(every), len(features))
    ends = np.cumsum([len(samples) for samples in found.values()])[:-1]
    parts = zip(found, np.split(times, ends), np.split(values, ends), strict=True)
    courses = tuple(ResourceCourse(execution, own, used) for execution, own, used in parts)
    rare = units.require_interval(np.concatenate([np.diff(course.times) for course in courses]), str(path))
    scaled = (units.said(name, place.unit) for name, place in places.items() if name != TIME and place.unit)
    notes = (*((converted,) if converted else ()), *((rare,) if rare else ()), *scaled, *units.odd_figures(values, features))
    return Traces(features, courses, str(path), tuple(f"{path}: {note}" for note in notes))


def _places(path: Path, number: int, header: list[str], columns: TraceColumns) -> dict[str, _Place]:
    """Where each quantity stands in a row: execution where there is one, time, then the features in their order."""
    optional = () if columns.features else (GPU, GPU_MEMORY)
    more = (name for name in columns.named if name not in USUAL and name not in units.UNITS)
    wanted = (EXECUTION, TIME, *(columns.features or (*ALWAYS, *more, *optional)))
    places: dict[str, _Place] = {}
    for name in dict.fromkeys(wanted):
        names = _names(name, columns)
        large = {} if _is_named(name, columns) else {each.lower(): each for each in reversed(header)}
        found = chain(
            ((each, unit) for each, unit in names if each in header),
            ((large[each], unit) for each, unit in names if each in large),
        )
        header_name, unit = next(found, (None, None))
        if header_name is not None and header.count(header_name) > 1:
            finding = f"has {header.count(header_name)} columns named {header_name!r:.80}"
            raise _malformed(f"{path}:{number}", finding, "give each column a name of its own")
        if header_name is not None:
            places[name] = _Place(header.index(header_name), unit)
        elif _is_named(name, columns) or name not in (EXECUTION, *optional):
            shown = ", ".join(repr(each) for each in header[:SHOWN_COLUMNS] if each)
            usual = " or ".join(repr(each) for each, _ in names[:3])
            raise UsageError(
                f"{path}:{number}",
                f"has no column {usual} for {name} (it has {shown or 'no names'})",
                f"name it: --column {name}=HEADER",
                code="JPO-E731",
            )
    return places


def _names(name: str, columns: TraceColumns) -> list[tuple[str, str | None]]:
    """Headers by which a quantity is found, each with its unit, None: the quantity's own; the one that is named alone."""
    others = [unit for unit, (of, _, _) in units.UNITS.items() if of == name]
    named: list[tuple[str, str | None]] = [(columns.named[unit], unit) for unit in others if unit in columns.named]
    if name in columns.named:
        named.insert(0, (columns.named[name], None))
    if len(named) > 1:
        finding = f"{name} is named {len(named)} times, in several units"
        raise UsageError("--column", finding, "name the one that the file has", code="JPO-E734")
    usual: list[tuple[str, str | None]] = [(each, None) for each in (*USUAL.get(name, ()), name)]
    return named or [*usual, *((each, unit) for unit in others for each in units.USUAL_UNITS[unit])]


def _is_named(name: str, columns: TraceColumns) -> bool:
    return any(each == name or units.UNITS.get(each, ("",))[0] == name for each in columns.named)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of the line where each ends, without blank ones; the first is the header."""
    remedy = "name a CSV file with one row per sample"
    content = contents(path, LARGEST_BYTES, lambda finding: UsageError(str(path), finding, remedy, code="JPO-E730"))
    try:
        lines = StringIO(content.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        raise _malformed(str(path), "is not UTF-8 text", remedy) from error
    head = next((line for line in lines if line.strip()), "")
    lines.seek(0)
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _malformed(f"{path}:{reader.line_num}", f"is not CSV ({error})", remedy) from error
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _time(where: str, text: str) -> tuple[float, bool]:
    """A number of any unit, or Unix seconds of an ISO 8601 date with a time; and whether it is a date."""
    try:
        value, is_date = reading.number(text), False
    except ValueError:
        value, is_date = units.moment(text), True
    if not abs(value) <= LATEST:  # NaN too
        raise _malformed(where, f"time = {text!r:.80} is neither a number of seconds nor a date", "write Unix seconds")
    return value, is_date


def _measured(where: str, feature: str, text: str) -> float:
    """A measurement: finite, not negative."""
    text = text.strip()
    if not text:
        raise _malformed(where, f"has no value of {feature}", "fill the cell, or remove the row: a gap is no error")
    try:
        value = reading.number(text)
    except ValueError:
        raise _malformed(where, f"{feature} = {text!r:.80} is not a number", "write a number, with a decimal point") from None
    if not np.isfinite(value):
        raise _malformed(where, f"{feature} = {text} is not finite", "remove the row: a gap is no error")
    if value < 0:
        raise _malformed(where, f"{feature} = {text} is negative", "nothing uses less than nothing: correct or remove the row")
    if value > LARGEST:
        raise _malformed(where, f"{feature} = {text:.80} is more than anything can use", "correct or remove the row")
    return value


def _malformed(place: str, finding: str, remedy: str = "correct the file; docs/phases.md has the format") -> UsageError:
    return UsageError(place, finding, remedy, code="JPO-E730")
