"""A report as text, for terminals and job logs.

Tables have no lines. Where room is short, prose wraps, then estimates break before their interval; keys, names and numbers stay
whole. A table that does not fit even so loses its optional columns, or is written row by row, a line for each value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from jpo.records import Currency, Note
from jpo.report.document import Block, Cell, Column, Document, Inline, Items, Plot, Section, Span, Table, Verbatim, shown, spans
from jpo.report.forms.cells import harmless, interval_of, value_of
from jpo.wording.printable import encodable

STYLES = {"": "", "strong": "bold", "dim": "dim", "good": "green", "warning": "yellow", "bad": "red"}
GLUE = "\ue000"
"""A blank at which no line breaks. A private character: no text from outside has it, since it is not printable."""
GAPS = (2, 1)
"""Blanks between columns, the first that fits."""
NARROWEST_PROSE = 20
NARROWEST = 40
"""Columns of a page; a narrower terminal breaks lines itself."""


def render(document: Document, *, width: int, colour: bool, encoding: str = "utf-8") -> str:
    """The report, `width` columns wide, in characters that the encoding of its stream has."""
    written = StringIO()
    console = Console(file=written, width=width, force_terminal=colour, no_color=not colour, highlight=False, markup=False)
    page = _Page(console, encoding, document.currency)
    room = max(width, NARROWEST)
    verdict = page.wrapped(Span(document.verdict, "strong"), room) if document.verdict else ()
    title = page.wrapped(_heading(document.title), room) if document.title and not document.bare else ()
    alarm = page.wrapped(Span(document.alarm, "bad"), room) if document.alarm else ()
    parts = [part for part in map(list, (alarm, title, page.blocks(document.blocks, room), verdict)) if part]
    lines = [line for part in parts for line in (Text(), *part)][1:]
    console.print(Text("\n").join(lines), soft_wrap=True)
    return "\n".join(line.rstrip() for line in written.getvalue().replace(GLUE, " ").split("\n"))


def _heading(title: Inline) -> Inline:
    """A title is bold, unless it says itself what of it is."""
    parts = spans(title)
    return parts if any(part.emphasis for part in parts) else tuple(Span(part.text, "strong") for part in parts)


@dataclass(frozen=True, slots=True)
class _Page:
    """Settings that all lines share."""

    console: Console
    encoding: str
    currency: Currency

    def blocks(self, blocks: tuple[Block, ...], width: int) -> Iterator[Text]:
        """Line by line; a blank one around what is not a sentence."""
        before: Block | None = None
        for block in shown(blocks):
            if before is not None and any(isinstance(one, Table | Section | Verbatim) for one in (before, block)):
                yield Text()
            yield from self.block(block, width)
            before = block

    def block(self, block: Block, width: int) -> Iterator[Text]:
        match block:
            case Table():
                yield from self.table(block, width)
            case Section(title=title, blocks=inner):
                yield from self.wrapped(_heading(title), width)
                yield from _indented(self.blocks(inner, max(width - 2, NARROWEST)))
            case Items(lines=lines):
                for line in lines:
                    yield from _indented(self.wrapped(line, max(width - 2, NARROWEST)), "- ")
            case Verbatim(text=text):
                yield from (self.line(harmless((Span(line.expandtabs(), ""),))) for line in text.rstrip("\n").split("\n"))
            case Note(text=text):
                yield from self.wrapped(Span(f"Note: {text}", "warning"), width)
            case Plot(description=text):
                yield from self.wrapped(text, width)
            case _:
                yield from self.wrapped(block, width)

    def line(self, parts: Sequence[Span], *, glued: bool = False) -> Text:
        """Harmless spans as one line."""
        texts = ((encodable(part.text, self.encoding), STYLES[part.emphasis]) for part in parts)
        return Text.assemble(*((text.replace(" ", GLUE) if glued else text, style) for text, style in texts))

    def wrapped(self, text: Inline, width: int) -> Iterator[Text]:
        """A sentence in lines; a path or URL that is longer than a line stays whole."""
        yield from _between_words(self.line(harmless(spans(text))), width)

    def table(self, table: Table, width: int) -> Iterator[Text]:
        rows = [[self.cell(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.cells()]
        heads = [self.line(harmless((Span(column.heading, "dim"),))) for column in table.columns]
        if table.caption:
            yield from self.wrapped(Span(table.caption, "strong"), width)
        needed = [number for number, column in enumerate(table.columns) if not column.optional]
        for kept in (range(len(heads)), needed):
            columns = [table.columns[number] for number in kept]
            texts = [[row[number] for number in kept] for row in (heads, *rows)]
            for gap in GAPS:
                if widths := fitting(columns, texts, width - gap * (len(kept) - 1)):
                    for row in texts if any(head.plain for head in heads) else texts[1:]:
                        yield from self.row(row, columns, widths, gap)
                    return
        yield from self.one_below_the_other(heads, rows, width)

    def cell(self, cell: Cell, column: Column) -> Text:
        """In one line, with blanks only where it may break."""
        text = self.line(value_of(cell, column, self.currency), glued=column.kind != "prose")
        interval = interval_of(cell, column, self.currency)
        return text.append(" ").append(self.line((Span(interval, "dim"),), glued=True)) if interval else text

    def row(self, texts: Sequence[Text], columns: Sequence[Column], widths: Sequence[int], gap: int) -> Iterator[Text]:
        wrapped = [
            text.wrap(self.console, width, overflow="fold") if text.cell_len > width else [text]
            for text, width in zip(texts, widths, strict=True)
        ]
        for pieces in zip_longest(*wrapped, fillvalue=Text()):
            line = Text()
            for number, (piece, column, width) in enumerate(zip(pieces, columns, widths, strict=True)):
                blank = " " * (width - piece.cell_len)
                line.append(" " * gap if number else "")
                line = line + blank + piece if column.kind == "figure" else line + piece + blank
            line.rstrip()
            yield line

    def one_below_the_other(self, heads: Sequence[Text], rows: Sequence[Sequence[Text]], width: int) -> Iterator[Text]:
        """A row as lines "heading: value", for where a table is too wide."""
        for number, row in enumerate(rows):
            if number:
                yield Text()
            for column, (head, text) in enumerate(zip(heads, row, strict=True)):
                if text.plain:
                    line = head + f":{GLUE}" + text if head.plain else text
                    yield from _indented(_between_words(line, max(width - 2, 1)), "  " if column else "")


def fitting(columns: Sequence[Column], texts: Sequence[Sequence[Text]], room: int) -> list[int] | None:
    """The width of each column, together at most `room`: the widest gives way first; None where nothing can.

    `texts`: the headings, then the rows.
    """
    wanted, least = [], []
    for column, cells in zip(columns, zip(*texts, strict=True), strict=True):
        words = [max(map(cell_len, text.plain.split(" "))) for text in cells]
        longest = max(words)
        least.append(min(longest, max(NARROWEST_PROSE, words[0])) if column.kind == "prose" else longest)
        wanted.append(max(least[-1], min(max(text.cell_len for text in cells), room)))
    while sum(wanted) > room:
        spare, widest = max(
            (width if width > low else 0, number) for number, (width, low) in enumerate(zip(wanted, least, strict=True))
        )
        if not spare:
            return None
        wanted[widest] -= 1
    return wanted


def _between_words(text: Text, width: int) -> Iterator[Text]:
    """The lines of a text; a word that is longer than a line stays whole, which rich would fold or leave all unbroken."""
    starts, room = [], width
    for word in re.finditer(r"\S+\s*", text.plain):
        if cell_len(word[0].rstrip()) > room < width:
            starts.append(word.start())
            room = width
        room -= cell_len(word[0])
    for line in text.divide(starts):
        line.rstrip()
        yield line


def _indented(lines: Iterable[Text], first: str = "  ") -> Iterator[Text]:
    """Lines two columns to the right, before the first one e.g. a dash; empty lines stay empty."""
    for number, line in enumerate(lines):
        yield Text("  " if number else first) + line if line.plain else line
