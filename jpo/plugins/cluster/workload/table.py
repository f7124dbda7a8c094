"""Tables of jobs as CSV: their text, their rows, the cells of a row by column, and amounts."""

from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from jpo.errors import quoted
from jpo.files.reading import contents, number_or_nan
from jpo.plugins.cluster.workload.swf import malformed
from jpo.tables.csv_rows import Row, rows_of


def text_of(path: Path, most_bytes: int) -> str:
    """A file in UTF-8; UsageError JPO-E740, it is none, or cannot be read."""
    try:
        return contents(path, most_bytes, lambda finding: malformed(str(path), finding)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise malformed(str(path), "is not UTF-8") from error


def csv_rows(text: str, path: Path) -> Iterator[Row]:
    """The rows; UsageError JPO-E740 where it is no CSV."""
    return rows_of(StringIO(text), lambda line, words: malformed(f"{path}:{line}", f"is not CSV ({words})"))


def under(head: Sequence[str], cells: Sequence[str], place: str) -> dict[str, str]:
    """The cells by the names of their columns; UsageError JPO-E740 where there are more or fewer."""
    if len(cells) != len(head):
        raise malformed(place, f"has {len(cells)} cells below {len(head)} columns")
    return dict(zip(head, (cell.strip() for cell in cells), strict=True))


def amount(cell: str, place: str, column: str, remedy: str = "") -> float | None:
    """A number from 0; None: the cell is empty. UsageError JPO-E740 for anything else."""
    if not cell:
        return None
    value = number_or_nan(cell)
    if not 0 <= value < 2**53:
        raise malformed(place, f"column {column} is {quoted(cell)}, not a number from 0", remedy)
    return value
