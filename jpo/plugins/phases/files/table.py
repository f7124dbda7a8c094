"""Tables with a row per sample: execution, time, and one column per quantity, every row checked.

Rows of several executions may be interleaved; within one of them time must go on. Sampling may be irregular and have gaps.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jpo.errors import quoted
from jpo.plugins.phases.files import units
from jpo.plugins.phases.files.cells import in_base, measurement
from jpo.plugins.phases.files.columns import EXECUTION, TIME, ColumnPlace
from jpo.plugins.phases.files.dates import is_day_first, moment, summer_time, unfolded
from jpo.plugins.phases.files.plain import PlainTable
from jpo.plugins.phases.files.rows import malformed, require_width
from jpo.plugins.phases.traces import CPU, ExecutionTrace, Traces, in_parts, intervals
from jpo.tables.csv_rows import Row


class _Sample(NamedTuple):
    """A row: its number, its time as written or of a date, and its measurements."""

    number: int
    time: float
    is_date: bool
    is_local: bool
    values: list[float]


def read_table(path: Path, width: int, places: Mapping[str, ColumnPlace], rows: Iterable[Row]) -> Traces:
    """The executions in a table of `width` columns; without one of executions the file is one.

    Raises UsageError: JPO-E730, a row says what cannot be: file, execution and row are named.
    """
    measured = [(name, place.at, place) for name, place in places.items() if name not in (EXECUTION, TIME)]
    rows = list(rows)
    require_width(path, width, rows)
    day_first = is_day_first(cells[places[TIME].at] for _, cells in rows)
    found: dict[str, list[_Sample]] = {}
    percent: set[str] = set()
    for number, cells in rows:
        execution = cells[places[EXECUTION].at].strip() if EXECUTION in places else path.stem
        where = f"{path}:{number}: execution {quoted(execution)}"
        if not execution:
            raise malformed(f"{path}:{number}", "names no execution")
        time = moment(where, cells[places[TIME].at].strip(), day_first=day_first)
        values = []
        for name, at, place in measured:
            cell = measurement(where, name, cells[at])
            values.append(in_base(where, name, cell) / (units.parts(place.unit) if cell.unit is None else 1.0))
            percent.update((name,) if cell.unit == "percent" else ())
        found.setdefault(execution, []).append(_Sample(number, *time, values))
    return _traces(path, places, found, sorted(percent))


def _require_order(path: Path, found: Mapping[str, Sequence[_Sample]]) -> None:
    for execution, samples in found.items():
        if len(samples) < 2:
            where = f"{path}:{samples[0].number}: execution {quoted(execution)}"
            raise malformed(where, "has one sample only", "remove it: a course begins with two samples")
        for before, after in pairwise(samples):
            if after.time > before.time:
                continue
            where = f"{path}:{after.number}: execution {quoted(execution)}"
            if after.time == before.time:
                finding = f"has the same time as row {before.number} ({after.time:.15g})"
                raise malformed(where, finding, "keep one sample for each time")
            finding = f"time goes back, from {before.time:.15g} in row {before.number} to {after.time:.15g}"
            raise malformed(where, finding, "sort the rows of each execution by time; a restart is an execution of its own")


def _in_summer_and_winter(found: dict[str, list[_Sample]]) -> list[str]:
    """Mend the hour that local clocks repeat; the executions where it was."""
    mended = []
    for execution, samples in found.items():
        times, at = unfolded(np.array([sample.time for sample in samples]), all(sample.is_local for sample in samples))
        if at is not None:
            found[execution] = [sample._replace(time=time) for sample, time in zip(samples, times.tolist(), strict=True)]
            mended.append(execution)
    return mended


def _traces(path: Path, places: Mapping[str, ColumnPlace], found: dict[str, list[_Sample]], percent: Sequence[str]) -> Traces:
    """Samples in order, with what is odd about their times and units."""
    mended = _in_summer_and_winter(found)
    _require_order(path, found)
    every = [sample for samples in found.values() for sample in samples]
    times, is_date = np.array([sample.time for sample in every]), np.array([sample.is_date for sample in every])
    values = np.array([sample.values for sample in every], dtype=np.float64).reshape(len(every), -1)
    table = PlainTable([*found], [*map(len, found.values())], times, values)
    twice = (summer_time(f"execution {execution:.80}") for execution in mended)
    shares = (units.said(name, "cpu_percent") for name in percent if name == CPU)
    return in_base_units(path, places, table, is_date, (*twice, *shares))


def in_base_units(
    path: Path, places: Mapping[str, ColumnPlace], table: PlainTable, is_date: NDArray[np.bool_], odd: Sequence[str] = ()
) -> Traces:
    """Executions in seconds, cores and bytes, with what was converted or looks odd."""
    features = tuple(name for name in places if name not in (EXECUTION, TIME))
    times, converted = units.in_seconds(table.times, is_date, str(path), places[TIME].unit)
    parts = in_parts(times, table.lengths), in_parts(table.values, table.lengths)
    rare = units.require_interval(intervals(times, table.lengths), str(path))
    scaled = (units.said(name, place.unit) for name, place in places.items() if name != TIME and place.unit)
    notes = [note for note in (converted, rare, *odd, *scaled, *units.odd_figures(table.values, features)) if note]
    executions = tuple(map(ExecutionTrace, table.names, *parts))
    return Traces(features, executions, str(path), tuple(f"{path}: {note}" for note in notes))
