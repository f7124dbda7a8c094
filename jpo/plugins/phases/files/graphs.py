"""Graphs as Grafana exports them: a column per series ("series joined by time"), or a row per series and time.

A cell without a number is a time at which nothing was measured, which is no error here: series that were measured at other times
share a table. Anything else that is no number is one.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from jpo.errors import UsageError, quoted
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.cells import LARGEST, is_nothing, number
from jpo.plugins.phases.files.columns import ColumnPlace
from jpo.plugins.phases.files.dates import is_day_first, moment, summer_time, unfolded
from jpo.plugins.phases.files.rows import malformed, require_width
from jpo.plugins.phases.files.series import ExportedSeries, labels_of, named
from jpo.plugins.phases.traces import Floats
from jpo.tables.csv_rows import Row

RECENT_SECONDS = 5e8
"""Since 1970: 1985, when nobody measured containers."""
VALUE = ("value", "metric_value")
TITLES = ("series", "metric", "metric_name", "__name__", "labels", "tags")
Found = tuple[list[ExportedSeries], list[str]]


def is_time(text: str) -> bool:
    """Whether a cell is a date, or as large as the seconds since 1970 are: in the first column, whatever that is called."""
    try:
        return (found := moment("", text.strip(), day_first=True)).is_date or found.value > RECENT_SECONDS
    except UsageError:
        return False


def value_of(header: Sequence[str]) -> int | None:
    """The column of values where there is a row per series and time, None: there is a column per series."""
    names = [name.lower() for name in header]
    at = next((names.index(name) for name in VALUE if name in names), None)
    return at if len(header) > 2 else None


def read_graph(path: Path, header: Sequence[str], time: ColumnPlace, value: int | None, rows: Sequence[Row]) -> Found:
    """A column per series, or, where a column has values, a row per series and time.

    Raises UsageError: JPO-E730, a cell is no number, or a time is none; file, row and column are named.
    """
    require_width(path, len(header), rows)
    times, notes = _times(path, time, rows)
    return [*(_wide(path, header, time, rows, times) if value is None else _long(path, header, time, value, rows, times))], notes


def _wide(path: Path, header: Sequence[str], time: ColumnPlace, rows: Sequence[Row], times: Floats) -> Iterator[ExportedSeries]:
    order = _order(path, rows, times)
    first = dict[str, int]()
    for at, title in enumerate(header):
        if at == time.at or (not title and all(is_nothing(cells[at]) for _, cells in rows)):  # a comma behind each row
            continue
        if first.setdefault(title, at) < at:
            finding = f"column {at + 1} is called {quoted(title)}, as column {first[title] + 1} is"
            raise malformed(str(path), finding, "give each series a legend of its own, e.g. {{pod}}")
        values, unit = _values(path, header, at, rows)
        yield _series(path, f"{path}: column {at + 1}, {quoted(title)}", title, times[order], values[order], unit)
    if not first:
        raise malformed(str(path), "has a column of times and no other", "name a file with a column per series")


def _long(
    path: Path, header: Sequence[str], time: ColumnPlace, value: int, rows: Sequence[Row], times: Floats
) -> Iterator[ExportedSeries]:
    """A series is known by its title, its labels, and by what else stands in its row."""
    others = [at for at in range(len(header)) if at not in (time.at, value)]
    members: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, (_, cells) in enumerate(rows):
        members[tuple(cells[at].strip() for at in others)].append(row)
    for texts, at in members.items():
        own = [rows[row] for row in at]
        order = _order(path, own, times[at])
        values, unit = _values(path, header, value, own)
        title = _title([header[column] for column in others], texts)
        yield _series(path, f"{path}:{own[0][0]}", title, times[at][order], values[order], unit)


def _title(header: Sequence[str], cells: Sequence[str]) -> str:
    """A series' title as Prometheus writes it, of the cells that tell it."""
    name, labels = "", {}
    for column, text in zip(header, cells, strict=True):
        if column.lower() not in TITLES:
            labels[column] = text
        elif (known := labels_of(text)) and ("{" in text or "=" in text):
            labels |= known
        elif text:
            metric, of_it = named(text)
            name, labels = metric, labels | of_it
    escaped = {label: text.replace("\\", "\\\\").replace('"', '\\"') for label, text in labels.items() if text}
    inside = ",".join(f'{label}="{text}"' for label, text in escaped.items())
    return f"{name}{{{inside}}}" if inside else name


def _series(path: Path, place: str, title: str, times: Floats, values: Floats, unit: str | None) -> ExportedSeries:
    """A series without the times at which nothing was measured."""
    measured = np.isfinite(values)
    name, labels = named(title)
    return ExportedSeries(str(path), place, title, name, labels, times[measured], values[measured], unit)


def _times(path: Path, place: ColumnPlace, rows: Sequence[Row]) -> tuple[Floats, list[str]]:
    day_first = is_day_first(cells[place.at] for _, cells in rows)
    moments = [moment(f"{path}:{line}", cells[place.at].strip(), day_first=day_first) for line, cells in rows]
    written, is_date, is_local = (np.array(part) for part in zip(*moments, strict=True))
    times, converted = units.in_seconds(written.astype(np.float64), is_date.astype(bool), str(path), place.unit)
    times, at = unfolded(times, bool(is_local.all()))
    notes = (converted, None if at is None else summer_time(f"row {rows[at][0]}"))
    return times, [f"{path}: {note}" for note in notes if note]


def _order(path: Path, rows: Sequence[Row], times: Floats) -> slice:
    """Times go on, or all of them back, the newest first."""
    steps = np.diff(times)
    if len(steps) and (steps < 0).all():
        return slice(None, None, -1)
    for at in np.flatnonzero(steps <= 0)[:1].tolist():
        finding = f"time goes from {times[at]:.15g} in row {rows[at][0]} to {times[at + 1]:.15g}"
        raise malformed(f"{path}:{rows[at + 1][0]}", finding, "sort the rows by time, and keep one for each time")
    return slice(None)


def _values(path: Path, header: Sequence[str], at: int, rows: Sequence[Row]) -> tuple[Floats, str | None]:
    """What was measured in a column, NaN: nothing, and the unit of its cells."""
    found, unit, column = np.full(len(rows), np.nan), list[str | None](), f"column {at + 1}, {quoted(header[at])}"
    for row, (line, cells) in enumerate(rows):
        text = cells[at].strip()
        cell = number(text)
        if cell is None or not isfinite(cell.value):
            if is_nothing(text):
                continue
            remedy = "write one, with a decimal point, or leave the cell empty"
            raise malformed(f"{path}:{line}: {column}", f"{quoted(text)} is not a number", remedy)
        if not 0 <= cell.value <= LARGEST:
            finding = f"{quoted(text)} is nothing that can be used"
            raise malformed(f"{path}:{line}: {column}", finding, "correct it, or leave the cell empty")
        unit = unit or ([cell.unit] if cell.value else [])  # nothing has no unit
        if cell.value and [cell.unit] != unit:
            finding = f"{quoted(text)} has another unit than the cells above"
            raise malformed(f"{path}:{line}: {column}", finding, "export one unit")
        found[row] = cell.value
    return found, unit[0] if unit else None
