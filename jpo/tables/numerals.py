"""Numerals of a table: decimal commas and separated thousands, as spreadsheets of many countries write them -> plain numbers.

What "1,024" is no cell says by itself: it is read by what the other cells of the table prove. Where they prove nothing, or both,
cells stay as they are, and one that is needed as a number is an error with its row.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

Style = Literal["comma", "point"]
"""What stands before the decimals."""
TAIL = r"(?:[eE][-+]?\d+)?\s*[%a-zA-Z]*"
"""An exponent or a unit behind the digits."""
STYLES: tuple[Style, ...] = ("comma", "point")
GROUPS: Mapping[Style, str] = {"comma": r"[1-9]\d{0,2}(?:\.\d{3})+", "point": r"[1-9]\d{0,2}(?:,\d{3})+"}
MARK: Mapping[Style, str] = {"comma": ",", "point": r"\."}
NUMBER: Mapping[Style, re.Pattern[str]] = {
    style: re.compile(rf"-?(?:{GROUPS[style]}|\d+)(?:{MARK[style]}\d+)?{TAIL}", re.ASCII) for style in STYLES
}
"""A number of each style, with or without groups and decimals."""
THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
"""A number whose commas cannot but part thousands, where a point parts decimals: 1,234.5 and 12,345,678."""
UNCLEAR = re.compile(r"-?[1-9][0-9]{0,2},[0-9]{3}(?: ?[A-Za-z%]{1,12})?")
LONGEST_UNCLEAR = 32


def style_of(cells: Iterable[str]) -> Style | None:
    """The one style that some cells prove; None where none does, or both."""
    proven: set[Style] = set()
    for cell in cells:
        fits = [style for style, number in NUMBER.items() if number.fullmatch(cell)]
        proven |= set(fits) if len(fits) == 1 else set()
    return next(iter(proven)) if len(proven) == 1 else None


def plain(cell: str, style: Style | None) -> str:
    """A cell with a point before its decimals and nothing between its thousands; other texts as they are."""
    if style == "comma" and NUMBER["comma"].fullmatch(cell):
        return cell.replace(".", "").replace(",", ".")
    return cell.replace(",", "") if style == "point" and NUMBER["point"].fullmatch(cell) else cell


def is_unclear(cell: str) -> bool:
    """Whether a comma may part decimals or thousands: 1,234 is one and a bit, or a thousand."""
    return len(cell) < LONGEST_UNCLEAR and UNCLEAR.fullmatch(cell) is not None
