"""Files of traces, of whatever kind each is, as one set of traces: several are joined by their executions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from jpo.files.reading import same_file
from jpo.plugins.phases.files.answers import is_printed, read_answers, read_printed
from jpo.plugins.phases.files.columns import EXECUTION, TIME, ColumnPlace, TraceColumns, place_of, places_of
from jpo.plugins.phases.files.graphs import Found, is_time, read_graph, value_of
from jpo.plugins.phases.files.join import Measured, joined, measured_of
from jpo.plugins.phases.files.plain import read_plain
from jpo.plugins.phases.files.rows import header_of, malformed, rows_of, text_of
from jpo.plugins.phases.files.table import in_base_units, read_table
from jpo.plugins.phases.traces import Traces

GRAFANAS_TIME = "Time"
"""Grafana's name for the first column of a graph, in which cells may be empty."""


def read_traces(paths: Path | Sequence[Path], columns: TraceColumns | None = None) -> Traces:
    """The executions in files: tables with a row per sample, exports of Grafana, answers of Prometheus.

    Raises UsageError: JPO-E730, a file cannot be read or says what cannot be: file, row and column or execution are named;
    JPO-E731, it lacks a column; JPO-E735, no execution has all features; JPO-E876, nobody says what a series measures.
    """
    paths, columns = [paths] if isinstance(paths, Path) else [*paths], columns or TraceColumns()
    if len(paths) == 1 and isinstance(only := _read(paths[0], columns, alone=True), Traces):
        return only
    for at, path in enumerate(paths):
        if any(same_file(path, before) for before in paths[:at]):
            raise malformed(str(path), "is named twice", "name it once: what is in it would count twice")
    found = [_read(path, columns, alone=False) for path in paths]
    measured, notes = measured_of([one[0] for one in found if not isinstance(one, Traces)], columns)
    for path, one in zip(paths, found, strict=True):
        measured += _parts(path, one) if isinstance(one, Traces) else ()
    said = [note for one in found for note in (one.notes if isinstance(one, Traces) else one[1])]
    traces = joined(measured, columns, ", ".join(map(str, paths)))
    return replace(traces, notes=(*dict.fromkeys((*said, *notes)), *traces.notes))


def _read(path: Path, columns: TraceColumns, *, alone: bool) -> Traces | Found:
    """A table as traces, anything else as series."""
    text = text_of(path)
    if is_printed(text):
        return read_printed(path, text), []
    if text.lstrip()[:1] in ("{", "["):
        return read_answers(path, text), []
    rows = rows_of(path, text)
    number, cells = next(rows, (0, []))
    if not cells:
        raise malformed(str(path), "is empty", "name a CSV file with a header and one row per sample")
    header = header_of(path, number, cells)
    time, value = place_of(header, TIME, columns), value_of(header)
    if time is not None and _is_table(header, time.at, value, columns):
        places = places_of(f"{path}:{number}", header, columns, alone=alone)
        if (plain := read_plain(text, number, len(header), places, path.stem)) is not None:
            return in_base_units(path, places, plain, np.zeros(len(plain.times), dtype=bool))
    below = [*rows]
    if time is not None and not _is_table(header, time.at, value, columns):
        return read_graph(path, header, time, value, below)
    if time is None and TIME not in columns.named and below and is_time(below[0][1][0]):  # Zeit, Heure, or nothing
        return read_graph(path, header, ColumnPlace(0), None, below)
    return read_table(path, len(header), places_of(f"{path}:{number}", header, columns, alone=alone), below)


def _is_table(header: Sequence[str], time: int, value: int | None, columns: TraceColumns) -> bool:
    """Whether columns are quantities: a feature has one, and none is of values."""
    places = places_of("", header, columns, alone=False)
    has_features = bool({*places} - {EXECUTION, TIME})
    if value is not None and not has_features:
        return False
    return EXECUTION in places or (has_features and header[time] != GRAFANAS_TIME)


def _parts(path: Path, traces: Traces) -> list[Measured]:
    """What a table says, feature by feature; its only execution has no name where the file's name is in its place."""
    return [
        Measured(str(path), "" if one.name == path.stem else one.name, feature, one.times, one.values[:, at])
        for one in traces.executions
        for at, feature in enumerate(traces.features)
    ]
