"""Graphs as Grafana exports them: a column per series ("series joined by time"), or a row per series and time.

A cell without a number is a time at which nothing was measured, which is no error here: series that were measured at other times
share a table. Anything else that is no number is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from jpo.errors import UsageError, quoted
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.cells import LARGEST, is_nothing, number
from jpo.plugins.phases.files.columns import TIME, ColumnPlace, TraceColumns, column_of
from jpo.plugins.phases.files.dates import is_day_first, moment, summer_time, unfolded
from jpo.plugins.phases.files.labels import labels_of, named
from jpo.plugins.phases.files.rows import malformed, require_width
from jpo.plugins.phases.files.series import ExportedSeries
from jpo.plugins.phases.traces import Floats
from jpo.tables.csv_rows import Row

RECENT_SECONDS = 5e8
"""Since 1970: 1985, when nobody measured containers."""
VALUE = ("value", "metric_value")
TITLES = ("series", "metric", "metric_name", "__name__", "labels", "tags")
Found = tuple[list[ExportedSeries], list[str]]
"""Series, and what there is to say."""


def time_of(header: Sequence[str], columns: TraceColumns) -> ColumnPlace | None:
    """The column of times, by its usual names or the one that is named; None: there is none."""
    name, unit = column_of(header, TIME, columns)
    return None if name is None else ColumnPlace(header.index(name), unit)


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


def read_wide(path: Path, header: Sequence[str], time: ColumnPlace, rows: Sequence[Row]) -> Found:
    """A column per series.

    Raises:
        UsageError: JPO-E730, a cell is no number, or a time is none; file, row and column are named.
    """
    require_width(path, len(header), rows)
    times, notes = _times(path, time, [(line, cells[time.at].strip()) for line, cells in rows])
    order = _order(path, rows, times)
    found, first = [], dict[str, int]()
    for at, title in enumerate(header):
        if at == time.at or (not title and all(is_nothing(cells[at]) for _, cells in rows)):  # a comma behind each row
            continue
        if first.setdefault(title, at) < at:
            finding = f"column {at + 1} is called {quoted(title)}, as column {first[title] + 1} is"
            raise malformed(str(path), finding, "give each series a legend of its own, e.g. {{pod}}")
        values, unit = _values(path, f"{at + 1}, {quoted(title)}", [(line, cells[at].strip()) for line, cells in rows])
        found.append(_series(path, f"{path}: column {at + 1}, {quoted(title)}", title, (times[order], values[order]), unit))
    if not found:
        raise malformed(str(path), "has a column of times and no other", "name a file with a column per series")
    return found, notes


def read_long(path: Path, header: Sequence[str], time: ColumnPlace, value: int, rows: Sequence[Row]) -> Found:
    """A row per series and time; a series is told by its title, its labels, and by what else stands in its row.

    Raises:
        UsageError: JPO-E730, as above.
    """
    require_width(path, len(header), rows)
    times, notes = _times(path, time, [(line, cells[time.at].strip()) for line, cells in rows])
    whose = [at for at in range(len(header)) if at not in (time.at, value)]
    together: dict[tuple[str, ...], list[int]] = {}
    for row, (_, cells) in enumerate(rows):
        together.setdefault(tuple(cells[at].strip() for at in whose), []).append(row)
    found = []
    for told, members in together.items():
        own = [rows[row] for row in members]
        order = _order(path, own, times[members])
        values, unit = _values(
            path, f"{value + 1}, {quoted(header[value])}", [(line, cells[value].strip()) for line, cells in own]
        )
        title = _title([header[at] for at in whose], told)
        found.append(_series(path, f"{path}:{own[0][0]}", title, (times[members][order], values[order]), unit))
    return found, notes


def _title(header: Sequence[str], told: Sequence[str]) -> str:
    """A series' title as Prometheus writes it, of the cells that tell it."""
    name, labels = "", {}
    for column, text in zip(header, told, strict=True):
        if column.lower() not in TITLES:
            labels[column] = text
        elif (known := labels_of(text)) and ("{" in text or "=" in text):
            labels |= known
        elif text:
            metric, of_it = named(text)
            name, labels = metric, labels | of_it
    inside = (f'{label}="{_escaped(text)}"' for label, text in labels.items() if text)
    return f"{name}{{{','.join(inside)}}}" if any(labels.values()) else name


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _series(path: Path, place: str, title: str, samples: tuple[Floats, Floats], unit: str | None) -> ExportedSeries:
    """A series without the times at which nothing was measured."""
    times, values = samples
    measured = np.isfinite(values)
    name, labels = named(title)
    return ExportedSeries(str(path), place, title, name, labels, times[measured], values[measured], unit)


def _times(path: Path, place: ColumnPlace, cells: Sequence[tuple[int, str]]) -> tuple[Floats, list[str]]:
    """Times in seconds, and what was done with them."""
    day_first = is_day_first(text for _, text in cells)
    moments = [moment(f"{path}:{line}", text, day_first=day_first) for line, text in cells]
    written, is_date, is_local = (np.array(part) for part in zip(*moments, strict=True))
    times, converted = units.in_seconds(written.astype(np.float64), is_date.astype(bool), str(path), place.unit)
    times, at = unfolded(times, bool(is_local.all()))
    return times, [note for note in (converted, None if at is None else summer_time(f"row {cells[at][0]}")) if note]


def _order(path: Path, rows: Sequence[Row], times: Floats) -> slice:
    """Times go on, or all of them back, the newest first."""
    steps = np.diff(times)
    if len(steps) and (steps < 0).all():
        return slice(None, None, -1)
    for at in np.flatnonzero(steps <= 0)[:1].tolist():
        finding = f"time goes from {times[at]:.15g} in row {rows[at][0]} to {times[at + 1]:.15g}"
        raise malformed(f"{path}:{rows[at + 1][0]}", finding, "sort the rows by time, and keep one for each time")
    return slice(None)


def _values(path: Path, column: str, cells: Sequence[tuple[int, str]]) -> tuple[Floats, str | None]:
    """What was measured, NaN: nothing, and the unit of the cells, each with its line."""
    found = np.full(len(cells), np.nan)
    units_of_cells: list[str | None] = []
    for at, (line, text) in enumerate(cells):
        cell = number(text)
        if cell is None or not isfinite(cell.value):
            if is_nothing(text):
                continue
            raise _wrong(
                path, line, column, f"{quoted(text)} is not a number", "write one, with a decimal point, or leave the cell empty"
            )
        if not 0 <= cell.value <= LARGEST:
            raise _wrong(path, line, column, f"{quoted(text)} is nothing that can be used", "correct it, or leave the cell empty")
        if cell.value and cell.unit not in units_of_cells:  # nothing has no unit
            units_of_cells.append(cell.unit)
            if len(units_of_cells) > 1:
                raise _wrong(path, line, column, f"{quoted(text)} has another unit than the cells above", "export one unit")
        found[at] = cell.value
    return found, units_of_cells[0] if units_of_cells else None


def _wrong(path: Path, line: int, column: str, finding: str, remedy: str) -> UsageError:
    return malformed(f"{path}:{line}: column {column}", finding, remedy)
