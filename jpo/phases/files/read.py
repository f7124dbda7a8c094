"""Files of traces, of whatever kind each is, as one set of traces: several are joined by their executions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jpo.phases.files.answers import is_printed, read_answers, read_printed
from jpo.phases.files.columns import EXECUTION, TIME, TraceColumns, places_of
from jpo.phases.files.graphs import read_long, read_wide, time_of, value_of
from jpo.phases.files.join import Measured, joined, measured_of
from jpo.phases.files.rows import header_of, malformed, rows_of, text_of
from jpo.phases.files.series import ExportedSeries
from jpo.phases.files.table import read_table
from jpo.phases.traces import Traces

GRAFANAS_TIME = "Time"
"""Grafana's name for the first column of a graph, in which cells may be empty."""


def read_traces(paths: Path | Sequence[Path], columns: TraceColumns | None = None) -> Traces:
    """The executions in files: tables with a row per sample, exports of Grafana, answers of Prometheus.

    Raises:
        UsageError: JPO-E730, a file cannot be read or says what cannot be: file, row and column or execution are named; JPO-E731,
            it lacks a column; JPO-E735, no execution has all features; JPO-E876, nobody says what a series measures.
    """
    paths, columns = [paths] if isinstance(paths, Path) else [*paths], columns or TraceColumns()
    if len(paths) == 1 and isinstance(only := _read(paths[0], columns, alone=True), Traces):
        return only
    found = [_read(path, columns, alone=False) for path in paths]
    measured = [
        part
        for path, one in zip(paths, found, strict=True)
        for part in (_parts(path, one) if isinstance(one, Traces) else one[0])
    ]
    notes = [note for one in found for note in (one.notes if isinstance(one, Traces) else one[1])]
    traces = joined(measured, columns, ", ".join(map(str, paths)))
    return replace(traces, notes=(*dict.fromkeys(notes), *traces.notes))


def _read(path: Path, columns: TraceColumns, *, alone: bool) -> Traces | tuple[list[Measured], list[str]]:
    """A table as traces, anything else as what was measured, with what there is to say."""
    text = text_of(path)
    if is_printed(text):
        return _noted(path, read_printed(path, text), [], columns)
    if text.lstrip()[:1] in ("{", "["):
        return _noted(path, read_answers(path, text), [], columns)
    rows = rows_of(path, text)
    number, cells = next(rows, (0, []))
    if not cells:
        raise malformed(str(path), "is empty", "name a CSV file with a header and one row per sample")
    header = header_of(path, number, cells)
    time = time_of(header, columns.named.get(TIME))
    value = value_of(header)
    if time is None or _is_table(header, time.at, value, columns):
        places = places_of(f"{path}:{number}", header, columns, alone=alone)
        return read_table(path, len(header), places, rows)
    below = [*rows]
    series, said = read_wide(path, header, time, below) if value is None else read_long(path, header, time, value, below)
    return _noted(path, series, said, columns)


def _is_table(header: Sequence[str], time: int, value: int | None, columns: TraceColumns) -> bool:
    """Whether columns are quantities: a feature has one, and none is of values."""
    places = places_of("", header, columns, alone=False)
    has_features = bool({*places} - {EXECUTION, TIME})
    if value is not None and not has_features:
        return False
    return EXECUTION in places or (has_features and header[time] != GRAFANAS_TIME)


def _noted(path: Path, series: list[ExportedSeries], said: list[str], columns: TraceColumns) -> tuple[list[Measured], list[str]]:
    measured, more = measured_of(series, columns)
    return measured, [f"{path}: {note}" for note in (*said, *more)]


def _parts(path: Path, traces: Traces) -> list[Measured]:
    """What a table says, feature by feature; its only execution has no name where the file's name is in its place."""
    return [
        Measured(
            str(path), "" if course.execution == path.stem else course.execution, feature, course.times, course.values[:, at]
        )
        for course in traces.courses
        for at, feature in enumerate(traces.features)
    ]
