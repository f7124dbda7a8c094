"""Tables with a row per run: CSV with a row of names, separated by commas, semicolons or tabs (spreadsheets, W&B, MLflow).

In UTF-8 or UTF-16, else Windows-1252; with decimal commas where the cells prove them (numerals.py).
"""

import codecs
from collections.abc import Iterator
from pathlib import Path

from jpo.errors import TelemetryError, quoted
from jpo.plugins.imports.foreign import (
    LONGEST_CELL,
    MOST_CELLS,
    NOT_MEASURED,
    ForeignRun,
    ForeignRuns,
    contents,
    modified_at,
    unreadable,
)
from jpo.tables.csv_rows import Row, is_blank, rows_of, separator_of
from jpo.tables.numerals import Style, plain, style_of

LARGEST_TABLE_BYTES = 64 * 2**20
MOST_RUNS = 100_000


def read_table(path: Path) -> ForeignRuns:
    """The runs of a table; TelemetryError JPO-E150, with the row, where it is none."""
    text, notes = _text_of(path)
    if text.startswith("#"):
        raise unreadable(path, "is a log of one run, not a table of runs", "jpo observe --csv reads it, if it is JPO's")
    head = text.partition("\n")[0]
    rows = _rows(path, text, separator_of(head))
    _, names = next(rows, (0, []))
    names = [name.strip() for name in names]
    if len(names) > MOST_CELLS:
        raise unreadable(path, f"has more than {MOST_CELLS} columns", "keep those of the run")
    if len(names) < 2 or not any(names):
        raise unreadable(path, "has no first row that names its columns", "export it with a header")
    for name in names:
        if name and names.count(name) > 1:
            raise unreadable(path, f"has two columns {quoted(name)}", "rename one of them")
    filled = list(rows)
    if not filled:
        raise unreadable(path, "has no run below its row of names", "export the runs, too")
    style = style_of(cell.strip() for _, cells in filled for cell in cells)
    if style == "comma":
        notes.append("table: decimals follow commas: 1,5 is read as 1.5, and 1.500 as 1500")
    first = modified_at(path) - len(filled)
    runs = (_run(path, line, names, cells, style, first + row) for row, (line, cells) in enumerate(filled, 1))
    return ForeignRuns("table", str(path), tuple(runs), notes=tuple(notes))


def _text_of(path: Path) -> tuple[str, list[str]]:
    """The text of a file, and what to know of it: spreadsheets of Windows still write other encodings than UTF-8."""
    data = contents(path, LARGEST_TABLE_BYTES)
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if utf_16 else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text, ["table: it is not UTF-8, and is read as Windows-1252"] if encoding == "cp1252" else []
    raise unreadable(path, "is not text in UTF-8, UTF-16 or Windows-1252", "export it as CSV in UTF-8")


def _rows(path: Path, text: str, separator: str) -> Iterator[Row]:
    """Line number and cells of each row that has any."""

    def broken(line: int, words: str) -> TelemetryError:
        return unreadable(f"{path}:{line}", f"is not a row of a table ({words})", "correct the row")

    for count, (line, cells) in enumerate(rows_of(text.splitlines(keepends=True), broken, separator)):  # 0: names
        if count > MOST_RUNS:
            raise unreadable(path, f"has more than {MOST_RUNS} rows", "import it in parts")
        if not is_blank(cells):
            yield line, cells


def _run(path: Path, line: int, names: list[str], cells: list[str], style: Style | None, at: float) -> ForeignRun:
    place = f"{path}:{line}"
    if len(cells) != len(names):
        raise unreadable(place, f"has {len(cells)} cells under {len(names)} columns", "correct the row")
    filled = zip(names, (plain(cell.strip(), style) for cell in cells), strict=True)
    known = {name: cell for name, cell in filled if name and cell.lower() not in NOT_MEASURED and len(cell) <= LONGEST_CELL}
    return ForeignRun(place, None, known, row_at=at)
