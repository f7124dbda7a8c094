"""Rows of CSV: commas, semicolons or tabs, with the number of the line where each ends."""

from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from jpo.errors import UsageError, quoted, words_of
from jpo.files.reading import contents
from jpo.tables.csv_rows import Row, is_blank, separator_of
from jpo.tables.csv_rows import rows_of as csv_rows
from jpo.tables.numerals import is_unclear

LARGEST_BYTES = 512 << 20
"""A larger file is no trace that fits into memory."""
LONGEST_HEADER = 4000
"""Characters of a column's name; Prometheus' labels have some hundred."""
REMEDY = "name a CSV file with one row per sample, or an export of Grafana or Prometheus"


def text_of(path: Path) -> str:
    """A file's text, without the mark of its encoding.

    Raises UsageError: JPO-E730, it cannot be read, is too large, or is no text.
    """
    content = contents(path, LARGEST_BYTES, lambda finding: malformed(str(path), finding, REMEDY))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise malformed(str(path), "is not UTF-8 text", REMEDY) from error


def rows_of(path: Path, text: str) -> Iterator[Row]:
    """Rows without blank ones; the first is the header. Grafana's `sep=,` for Excel is none.

    Raises UsageError: JPO-E730, it is not CSV.
    """
    lines, separator = StringIO(text, newline=""), separator_in(text)

    def broken(line: int, words: str) -> UsageError:
        return malformed(f"{path}:{line}", f"is not CSV ({words_of(words)})", REMEDY)

    for line, cells in csv_rows(lines, broken, separator):
        if not is_blank(cells) and not (line == 1 and _is_separator(text[:6])):
            if separator == ";":
                _require_clear(f"{path}:{line}", cells)
            yield line, cells


def separator_in(text: str) -> str:
    """What the first line that says something has most of."""
    return separator_of(next((line for line in StringIO(text, newline="") if line.strip() and not _is_separator(line)), ""))


def _require_clear(place: str, cells: list[str]) -> None:
    """Where semicolons part cells a comma may part decimals: 1,234 is one and a bit, or a thousand."""
    for cell in cells:
        if is_unclear(cell.strip()):
            finding = f"{quoted(cell.strip())} may be a thousand times as much: its comma may part decimals or thousands"
            raise malformed(place, finding, "write a decimal point, and nothing between thousands")


def header_of(path: Path, number: int, cells: list[str]) -> list[str]:
    """The names of columns; UsageError JPO-E730 for one that is too long for a name."""
    for at, name in enumerate(cells, start=1):
        if len(name) > LONGEST_HEADER:
            finding = f"column {at} has a name of {len(name)} characters"
            raise malformed(f"{path}:{number}", finding, f"shorten it to {LONGEST_HEADER}")
    return [name.strip() for name in cells]


def require_width(path: Path, width: int, rows: Sequence[Row]) -> None:
    """Raise UsageError JPO-E730 for a row with more or fewer cells than the header, and where there is none."""
    for line, cells in rows:
        if len(cells) != width:
            raise malformed(f"{path}:{line}", f"has {len(cells)} cells below {width} columns")
    if not rows:
        raise malformed(str(path), "has a header and no sample below it", "name a file with one row per sample")


def malformed(place: str, finding: str, remedy: str = "correct the file; docs/plugins/phases.md has the format") -> UsageError:
    return UsageError(place, finding, remedy, code="JPO-E730")


def _is_separator(line: str) -> bool:
    return line[:4].lower() == "sep=" and len(line.strip()) <= 5
