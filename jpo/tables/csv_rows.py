"""Rows of CSV, each with the number of the line where it ends."""

import csv
from collections.abc import Callable, Iterable, Iterator

from jpo.errors import JpoError

SEPARATORS = ",;\t"
Row = tuple[int, list[str]]
"""Number of a line, from 1, and the cells that end there."""


def separator_of(head: str) -> str:
    """What separates cells: the sign that the row of names has most of; of several the first."""
    return max(SEPARATORS, key=head.count)


def rows_of(lines: Iterable[str], broken: Callable[[int, str], JpoError], separator: str = ",") -> Iterator[Row]:
    """The rows, without empty lines.

    `lines`: with their line breaks. `broken`: the reader's error for what is no CSV: the line, and the finding in the words of
    Python's csv.
    """
    reader = csv.reader(lines, strict=True, delimiter=separator)
    try:
        yield from ((reader.line_num, cells) for cells in reader if cells)
    except csv.Error as error:
        raise broken(reader.line_num, str(error)) from error


def is_blank(cells: Iterable[str]) -> bool:
    """Whether a row has separators and blanks alone."""
    return not any(map(str.strip, cells))
