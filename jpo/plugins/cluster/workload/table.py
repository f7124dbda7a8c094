"""Tables of jobs as CSV: their text, their rows, and the cells of a row by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from jpo.files.reading import contents
from jpo.plugins.cluster.workload.swf import malformed
from jpo.tables.rows import Row, rows_of


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
