"""A report as text, for terminals and job logs.

Tables have no lines. Where room is short, prose wraps, estimates break before their interval and long keys lose their middle;
names and numbers stay whole. Of a table that does not fit even so the last columns are left out, and named below it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import zip_longest

from rich.cells import cell_len
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
NARROWEST_COLUMN = 22
"""Of prose and keys: ids of suggestions, and training.learning_rate, stay whole. Of longer keys the middle is left out."""
MOST_LINES = 10
"""Of a table that says how all of it is seen."""
NARROWEST = 40
"""Columns of a page; a narrower terminal breaks lines itself."""


def render(document: Document, *, width: int, colour: bool, encoding: str = "utf-8") -> str:
    """The report, `width` columns wide, in characters that the encoding of its stream has."""
    page = _Page(width, encoding, document.currency)
    room = max(width, NARROWEST)
    verdict = page.wrapped(Span(document.verdict, "strong"), room) if document.verdict else ()
    title = page.wrapped(_heading(document.title), room) if document.title and not document.bare else ()
    alarm = page.wrapped(Span(document.alarm, "bad"), room) if document.alarm else ()
    parts = [part for part in map(list, (alarm, title, page.blocks(document.blocks, room), verdict)) if part]
    lines = [line for part in parts for line in (Text(), *part)][1:]
    text = Text("\n").join(lines)
    written = coloured(text, width) if colour else f"{text.plain}\n"
    return "\n".join(line.rstrip() for line in written.replace(GLUE, " ").split("\n"))


def coloured(text: Text, width: int) -> str:
    from rich.console import Console  # here, and where cells wrap: without it a command starts sooner

    written = StringIO()
    console = Console(file=written, width=width, force_terminal=True, no_color=False, highlight=False, markup=False)
    console.print(text, soft_wrap=True)
    return written.getvalue()


def _heading(title: Inline) -> Inline:
    """A title is bold, unless it says itself what of it is."""
    parts = spans(title)
    return parts if any(part.emphasis for part in parts) else tuple(Span(part.text, "strong") for part in parts)


@dataclass(frozen=True, slots=True)
class _Page:
    """Settings that all lines share."""

    columns: int
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
        """The newest rows of a long list, in the columns for which there is room: the first ones, since they say most."""
        few = replace(table, rows=table.rows[-MOST_LINES:]) if table.all_with else table
        heads = [self.line(harmless((Span(column.heading, "dim"),))) for column in table.columns]
        texts = [heads, *([self.cell(*pair) for pair in zip(row, table.columns, strict=True)] for row in few.cells())]
        if table.caption:
            yield from self.wrapped(Span(table.caption, "strong"), width)
        widths, gap = laid_out(table.columns, texts, width)
        head, *rows = [tuple(self.row(row, table.columns, widths, gap)) for row in texts]
        shown = newest(rows) if table.all_with else rows
        yield from head if any(text.plain for text in heads) else ()
        yield from (line for row in shown for line in row)
        hidden = [column.heading for column in table.columns[len(widths) :] if column.heading]
        older = len(table.rows) - len(shown)
        said = (
            f"{older} older{table.all_with}" if older else "",
            f"hidden at {self.columns} columns: {', '.join(hidden)}" if hidden else "",
        )
        yield from self.wrapped(Span("; ".join(filter(None, said)), "dim"), width) if any(said) else ()

    def cell(self, cell: Cell, column: Column) -> Text:
        """In one line, with blanks only where it may break."""
        text = self.line(value_of(cell, column, self.currency), glued=column.kind != "prose")
        interval = interval_of(cell, column, self.currency)
        return text.append(" ").append(self.line((Span(interval, "dim"),), glued=True)) if interval else text

    def row(self, texts: Sequence[Text], columns: Sequence[Column], widths: Sequence[int], gap: int) -> Iterator[Text]:
        """The lines of a row, of as many columns as have a width."""
        cells = list(zip(texts, columns, widths, strict=False))
        wrapped = [self.within(*cell) for cell in cells]
        for pieces in zip_longest(*wrapped, fillvalue=Text()):
            line = Text()
            for number, (piece, (_, column, width)) in enumerate(zip(pieces, cells, strict=True)):
                blank = " " * (width - piece.cell_len)
                line.append(" " * gap if number else "")
                line = line + blank + piece if column.kind == "figure" else line + piece + blank
            line.rstrip()
            yield line

    def within(self, text: Text, column: Column, width: int) -> Iterable[Text]:
        """The lines of a cell."""
        if text.cell_len <= width:
            return [text]
        if column.kind == "key":
            mark = encodable("…", self.encoding)
            start = (width - len(mark)) // 2
            return [text[:start] + mark + text[start + len(mark) - width :]]
        if column.kind == "words" and max(map(cell_len, text.plain.split(" "))) > width:
            text.plain = text.plain.replace(GLUE, " ")
        from rich.console import Console

        return text.wrap(Console(width=self.columns), width, overflow="fold")


def laid_out(columns: Sequence[Column], texts: Sequence[Sequence[Text]], room: int) -> tuple[list[int], int]:
    """The widths of as many columns as have room, and the blanks between them; the first two always, if need be wrapped."""
    for count in range(len(columns), min(2, len(columns)) - 1, -1):
        for gap in GAPS:
            if widths := fitting(columns[:count], texts, room - gap * (count - 1)):
                return widths, gap
    few = [replace(column, kind="prose") if column.kind == "words" else column for column in columns[:2]]
    gap = GAPS[-1]
    return fitting(few, texts, room - gap) or [(room - gap) // len(few)] * len(few), gap


def fitting(columns: Sequence[Column], texts: Sequence[Sequence[Text]], room: int) -> list[int] | None:
    """The width of each column, together at most `room`: the widest gives way first; None where nothing can."""
    wanted, least = [], []
    for column, cells in zip(columns, zip(*texts, strict=True), strict=False):
        words = [max(map(cell_len, text.plain.split(" "))) for text in cells]
        whole = min(max(text.cell_len for text in cells), room)
        of_kind = {"prose": min(whole, max(NARROWEST_COLUMN, words[0])), "key": min(whole, NARROWEST_COLUMN)}
        least.append(of_kind.get(column.kind, max(words)))
        wanted.append(max(least[-1], whole))
    while sum(wanted) > room:
        pairs = enumerate(zip(wanted, least, strict=True))
        spare, widest = max((width if width > low else 0, number) for number, (width, low) in pairs)
        if not spare:
            return None
        wanted[widest] -= 1
    return wanted


def newest(rows: Sequence[tuple[Text, ...]]) -> Sequence[tuple[Text, ...]]:
    """The last rows of a list, at most MOST_LINES together; the last one in any case."""
    lines = 0
    for number, row in enumerate(reversed(rows)):
        lines += len(row)
        if number and lines > MOST_LINES:
            return rows[-number:]
    return rows


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
