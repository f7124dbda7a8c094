"""Tables with a row per run: CSV with a row of names, separated by commas, semicolons or tabs (spreadsheets, W&B, MLflow)."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from jpo.telemetry.imports.foreign import LONGEST_CELL, MOST_CELLS, NOT_MEASURED, ForeignRun, ForeignRuns, text_of, unreadable

LARGEST_TABLE_BYTES = 64 * 2**20
MOST_RUNS = 100_000
SEPARATORS = ",;\t"


def read_table(path: Path) -> ForeignRuns:
    """The runs of a table.

    Raises:
        TelemetryError: JPO-E150, it is no table, with the row.
    """
    text = text_of(path, LARGEST_TABLE_BYTES)
    if text.startswith("#"):
        raise unreadable(path, "is a log of one run, not a table of runs", "jpo observe --csv reads it, if it is JPO's")
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    rows = _rows(path, text, separator)
    _, names = next(rows, (0, []))
    names = [name.strip() for name in names]
    if len(names) < 2 or len(names) > MOST_CELLS or not any(names):
        raise unreadable(path, "has no first row that names its columns", "export it with a header")
    for name in names:
        if name and names.count(name) > 1:
            raise unreadable(path, f"has two columns {name!r:.80}", "rename one of them")
    runs = tuple(_run(path, line, names, cells) for line, cells in rows)
    if not runs:
        raise unreadable(path, "has no run below its row of names", "export the runs, too")
    return ForeignRuns("table", str(path), runs)


def _rows(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row that has any."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True)
    count = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise unreadable(f"{path}:{reader.line_num}", f"is no row of a table ({error})", "correct the row") from error
        if cells is None:
            return
        count += 1
        if count > MOST_RUNS:
            raise unreadable(path, f"has more than {MOST_RUNS} rows", "import it in parts")
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _run(path: Path, line: int, names: list[str], cells: list[str]) -> ForeignRun:
    place = f"{path}:{line}"
    if len(cells) != len(names):
        raise unreadable(place, f"has {len(cells)} cells under {len(names)} columns", "correct the row")
    told = zip(names, (cell.strip() for cell in cells), strict=True)
    known = {name: cell for name, cell in told if name and cell.lower() not in NOT_MEASURED and len(cell) <= LONGEST_CELL}
    return ForeignRun(place, None, known)
