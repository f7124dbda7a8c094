"""Rows of CSV files which spreadsheets show and do not run."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell instead of showing it. Source: OWASP, "CSV Injection"."""

Cell = str | float | bool | None


def csv_line(cells: Iterable[Cell]) -> str:
    """A row with its line feed: RFC 4180 but for the end, texts harmless, None empty."""
    line = StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([harmless(cell) for cell in cells])  # so it quotes all that could end a line
    return line.getvalue().removesuffix("\r\n") + "\n"


def harmless(cell: Cell) -> Cell:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
