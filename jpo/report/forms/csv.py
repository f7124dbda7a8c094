"""The tables of a report as CSV, for spreadsheets and programs: numbers as they are recorded, amounts in USD.

A header says the unit, by the column's published key or as "cost (USD)". What people see in one cell has a column each here: the
bounds of an interval, a standard error, and the unit where it differs from row to row. Texts that a spreadsheet would run, or a
CI where it is printed, are quoted; a row is one line. Only tables are written; what is unknown is empty.
"""

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import TypeAlias

from jpo.report.document import Block, Cell, Column, Document, Section, Table, plain_text
from jpo.wording import names
from jpo.wording.printable import disarmed, printable, seen

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "::")
"""What makes a spreadsheet compute a cell instead of showing it (source: OWASP, "CSV Injection"), and a CI obey a line."""
Raw: TypeAlias = str | float | bool | None


def csv_line(cells: Iterable[Raw], *, whole: bool = False) -> str:
    """A row with its line feed: RFC 4180 but for the end, texts harmless, None empty.

    `whole`: keep texts of any length; else the longest lose their middle, as names do for people.
    """
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow(harmless(cell, whole=whole) for cell in cells)
    return line.getvalue()


def harmless(cell: Raw, *, whole: bool = False) -> Raw:
    """A text in one line; one that a spreadsheet would take for a formula gets an apostrophe before it. Numbers stay."""
    if not isinstance(cell, str):
        return cell
    text = disarmed(seen(cell)) if whole else printable(cell)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def render(document: Document) -> str:
    """All tables; one under the same header as the one before goes on below it.

    Where sections tell tables of one header apart (a workload each), the first column names the section.
    """
    found = list(_tables(document.blocks, ""))
    in_sections = len({section for section, _ in found}) > 1
    text, header = "", ""
    for section, one in found:
        head, *lines = [csv_line([*([name] if in_sections else []), *row]) for name, row in _rows(one, section)]
        if head != header:
            text += "\n" + head if text else head
        text, header = text + "".join(lines), head
    return text


def _tables(blocks: tuple[Block, ...], section: str) -> Iterator[tuple[str, Table]]:
    for block in blocks:
        if isinstance(block, Table):
            yield section, block
        elif isinstance(block, Section):
            yield from _tables(block.blocks, printable(plain_text(block.title)))


def _rows(table: Table, section: str) -> Iterator[tuple[str, list[Raw]]]:
    """The header and the rows, each with what is in the column of the section."""
    rows = list(table.cells())
    by_column = [_columns(column, [row[number] for row in rows]) for number, column in enumerate(table.columns)]
    yield "section", [name for columns in by_column for name in columns]
    for number in range(len(rows)):
        yield section, [values[number] for columns in by_column for values in columns.values()]


def _columns(column: Column, cells: list[Cell]) -> dict[str, list[Raw]]:
    """A column for people as columns of raw values, by their headers."""
    units = [_unit(cell, column) for cell in cells]
    different = {unit for unit in units if unit is not None}
    unit = next(iter(different)) if len(different) == 1 else ""
    name = printable(column.key or (f"{column.heading} ({unit})" if unit else column.heading))
    values = (cell.value for cell in cells)
    found: dict[str, list[Raw]] = {
        name: [v if v is None or isinstance(v, float | int) else printable(plain_text(v)) for v in values]
    }
    link = "_" if column.key else " "
    if len(different) > 1:
        found[f"{name}{link}unit"] = list(units)
    if any(cell.low is not None for cell in cells):
        found[f"{name}{link}low"] = [cell.low for cell in cells]
        found[f"{name}{link}high"] = [cell.high for cell in cells]
    if any(cell.error is not None for cell in cells):
        found[f"{name}{link}error"] = [cell.error for cell in cells]
    return found


def _unit(cell: Cell, column: Column) -> str | None:
    """The unit of a number; None for other values."""
    number = isinstance(cell.value, float | int) and not isinstance(cell.value, bool)
    return names.quantity(cell.quantity or column.quantity).unit if number else None
