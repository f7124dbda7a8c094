"""Text of a cell for people: its value with its unit, and the interval of an estimate. The same in every form for people."""

from jpo.records import Currency
from jpo.report.document import Cell, Column, Span, spans
from jpo.wording import numbers
from jpo.wording.printable import LONGEST_TEXT, LONGEST_WORD, printable


def value_of(cell: Cell, column: Column, currency: Currency) -> tuple[Span, ...]:
    """The value, without its interval."""
    value, quantity = cell.value, cell.quantity or column.quantity
    if value is None:
        return (Span(numbers.UNKNOWN, cell.emphasis or "dim"),)
    if isinstance(value, bool):
        text: tuple[Span, ...] = (Span("yes" if value else "no", ""),)
    elif isinstance(value, float | int):
        text = (Span(numbers.written(quantity, value, currency), ""),)
    else:
        text = spans(value)
    parts = (Span(cell.prefix, ""), *text) if cell.prefix else text
    longest = LONGEST_WORD if column.kind == "key" else LONGEST_TEXT
    return harmless(tuple(Span(part.text, part.emphasis or cell.emphasis) for part in parts), longest=longest)


def interval_of(cell: Cell, column: Column, currency: Currency) -> str:
    """What follows the value of an estimate: "(5.20 to 9.85)" or "± 0.021"; empty for other cells."""
    quantity = cell.quantity or column.quantity
    if cell.value is None:
        return ""
    if cell.low is not None and cell.high is not None:
        return f"({numbers.between(quantity, cell.low, cell.high, currency)})"
    return "" if cell.error is None else f"± {numbers.written(quantity, float(f'{cell.error:.2g}'), currency)}"


def harmless(parts: tuple[Span, ...], *, longest: int = LONGEST_TEXT) -> tuple[Span, ...]:
    """The same texts in one line, without what steers a terminal or a CI, or turns the direction of reading."""
    return tuple(Span(printable(part.text, longest=longest), part.emphasis) for part in parts)
