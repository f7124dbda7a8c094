"""What reports in text are printed on: as wide as asked for, coloured or not, and names are shown as they are."""

from __future__ import annotations

from io import StringIO

from rich.console import Console


def blank_page(width: int, *, colour: bool, markup: bool = False) -> Console:
    """Nothing is printed yet. With `markup`, [bold] is an instruction: then names must be escaped."""
    return Console(
        file=StringIO(),
        width=width,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        markup=markup,
        emoji=False,
        legacy_windows=False,
    )


def text_of(page: Console) -> str:
    """What was printed, without blanks at the ends of lines."""
    assert isinstance(page.file, StringIO)
    return "\n".join(line.rstrip() for line in page.file.getvalue().split("\n"))
