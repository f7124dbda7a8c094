"""Document: what every report for people is made of, before it is text, Markdown, HTML or CSV.

A subject (a suggestion, a history, a front) says once what it shows and in which order; report/forms/ knows how that looks.
Values stay numbers with the name of their quantity, as jpo/wording/names.py has it: 3600 of "duration_seconds", not "1h 00m".
Texts are data: they may come from files and servers, and each form makes them harmless. Nothing is imported here that is slow.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from jpo.records import USD, Currency, Interval, Note

Emphasis = Literal["", "strong", "dim", "good", "warning", "bad"]
"""What a text means to the reader; the colours are the form's."""
Kind = Literal["words", "prose", "key", "figure"]
"""A column of short words, of sentences that wrap, of identifiers, or of numbers (right-aligned). Only prose breaks where it is
long; an estimate may break before its interval."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text with an emphasis."""

    text: str
    emphasis: Emphasis = "strong"


Inline: TypeAlias = "str | Span | tuple[str | Span, ...]"
"""One line of text, some of it emphasised: ("Workload ", Span("digits/cnn/torch"), ": 3 runs")."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a table.

    Attributes:
        value: None is shown as "unknown"; a cell that is empty on purpose holds "".
        quantity: name of the quantity that a number is of; empty: that of the column.
        low, high: the bounds of its interval, where it is an estimate.
        error: its standard error, where it is a mean.
        prefix: what people read before the value, e.g. "≤ " of a limit.

    Raises ValueError: one bound without the other, or a number that is not finite.
    """

    value: "float | bool | Inline | None"
    quantity: str = ""
    low: float | None = None
    high: float | None = None
    error: float | None = None
    emphasis: Emphasis = ""
    prefix: str = ""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"an interval has two bounds, found {self.low} and {self.high}")
        for number in (self.value, self.low, self.high, self.error):
            if isinstance(number, float) and not math.isfinite(number):
                raise ValueError(f"{number} of {self.quantity or 'no quantity'} is not a finite number; use None for unknown")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        heading: its name for people; may be empty, in a form for people.
        quantity: name of the quantity that its numbers are of; empty: they are plain, or cells have their own.
        key: its name in CSV where that is published, with the unit in it ("cost_usd"); empty: heading and unit.
    """

    heading: str
    kind: Kind = "words"
    quantity: str = ""
    key: str = ""


Row: TypeAlias = "tuple[Cell | float | bool | Inline | None, ...]"
"""The cells of a row; a bare value is a cell without emphasis."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, the most important first: a narrow terminal leaves out the last ones. One without rows is not shown.

    Attributes:
        name: what it is called where it has no caption.
        caption: what it shows, where no heading above says so.
        all_with: of a long list, oldest first, what follows the number of older rows, since a terminal has the newest rows alone:
            ": --limit 30", how people see all of it.

    Raises ValueError: a row is shorter or longer than the columns.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    name: str = ""
    caption: str = ""
    all_with: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} columns: {row!r:.200}")

    def cells(self) -> Iterator[tuple[Cell, ...]]:
        """Row by row, bare values as cells."""
        for row in self.rows:
            yield tuple(value if isinstance(value, Cell) else Cell(value) for value in row)

    def filled(self) -> "Table":
        """The same without columns that are empty on purpose in all rows."""
        kept = [number for number, cells in enumerate(zip(*self.cells(), strict=True)) if any(map(_filled, cells))]
        rows = tuple(tuple(row[number] for number in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in kept), rows=rows)


def _filled(cell: Cell) -> bool:
    return isinstance(cell.value, float | int) or cell.value is None or bool(plain_text(cell.value))


@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    lines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines that stay as they are, e.g. a unified diff."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """Points of one kind in a chart, (x, y) each, and what the reader is told of their kind.

    Attributes:
        hue: from 1 on, where kinds are neither good nor bad, and many; 0: colours are those of the emphasis.
        reach: by point how far its interval reaches: least and most x, least and most y.
        texts: by point what is written next to it, where there is room.
        joined: by a line, with a band as wide as they reach around it; or by steps: to the right, then up or down. Points without
            a name are drawn by these alone; "boxes" are what is reached alone.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    emphasis: Emphasis = ""
    hollow: bool = False
    hue: int = 0
    reach: tuple[tuple[float, float, float, float], ...] = ()
    texts: tuple[str, ...] = ()
    joined: Literal["", "line", "steps", "boxes"] = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture where a form has pictures; the others say what is to be seen in it. One without points is not shown.

    Attributes:
        description: what is to be seen, in sentences: the text alternative, which stands below the picture too.
        key: what its lines and rings mean, in a sentence for those who see them; empty: nothing to explain.
        x, y: names of the quantities of its axes.
        x_label, y_label: what people read at the axes; empty: the names of the quantities.
        level: a value of y that others are compared with: a dashed line.
        rows: where the vertical axis has no quantity, what is written above its 1, 2, 3 ..., from below.
        moments: where on the x axis something changed, and what, for those who point at the line.
    """

    title: str
    description: str
    x: str
    y: str
    marks: tuple[Marks, ...]
    x_label: str = ""
    y_label: str = ""
    level: float | None = None
    rows: tuple[str, ...] = ()
    moments: tuple[tuple[float, str], ...] = ()
    key: str = ""

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        return tuple(point for marks in self.marks for point in marks.points)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what is below it; one without blocks is not shown. A page unfolds a `folded` one where it is asked to."""

    title: Inline
    blocks: "tuple[Block, ...]" = ()
    folded: bool = False


Block: TypeAlias = "Inline | Table | Note | Items | Verbatim | Plot | Section"
"""A bare text is a paragraph; a note is what the reader must not miss."""


@dataclass(frozen=True, slots=True)
class Document:
    """A report.

    The currency is a part of it, not of a form: it is the reader's choice in jpo.toml and known where a subject builds its
    document, whose sentences name amounts too. Cells hold USD all the same; forms for people convert, CSV does not.

    Attributes:
        verdict: what came of it, in one line: the last one in a terminal, the first one where people begin at the top.
        bare: a terminal shows it without its title: lines to be copied, or sections that speak for themselves.
        alarm: what is wrong with all of it, in a sentence: shown before everything else.
        interactive: on a page of it keys lead to the sections that they name, and long tables are filtered, sorted and turned
            over, by a script.
    """

    title: Inline
    blocks: tuple[Block, ...] = ()
    verdict: str = ""
    currency: Currency = USD
    bare: bool = False
    alarm: str = ""
    interactive: bool = False


def estimate(interval: Interval | None, quantity: str = "") -> Cell:
    """A forecast with its interval as a cell; unknown where there is none."""
    if interval is None:
        return Cell(None, quantity)
    return Cell(interval.mean, quantity, interval.low, interval.high)


def spans(text: Inline) -> tuple[Span, ...]:
    """The parts of a text, each with its emphasis."""
    parts = text if isinstance(text, tuple) else (text,)
    return tuple(part if isinstance(part, Span) else Span(part, "") for part in parts)


def plain_text(text: Inline) -> str:
    """A text without its emphasis."""
    return "".join(span.text for span in spans(text))


def shown(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks that have something to say; of a table the columns that have."""
    for block in blocks:
        match block:
            case Table(rows=()) | Items(lines=()) | "" | ():
                continue
            case Section(blocks=inner) if not any(shown(inner)):
                continue
            case Plot() if not block.points:
                continue
            case Table():
                yield block.filled()
            case _:
                yield block
