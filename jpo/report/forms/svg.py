"""A chart as shapes with classes, which INKS colour, and texts: inline SVG of a page, or a picture (forms/picture.py).

Who does not see it has its description. Thousands of points are one path: a dot is a line of no length with round ends.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from jpo.records import Currency
from jpo.report.document import Marks, Plot
from jpo.report.forms.colours import SEVERAL
from jpo.wording import names, numbers

WIDTH, HEIGHT = 520.0, 310.0
LEFT, RIGHT, TOP, BOTTOM = 80.0, 44.0, 30.0, 50.0
"""Margins: room for the numbers of the axes; their names stand above the vertical one and below the other."""
WIDE = 20.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
SMALLEST = 1e-12
"""What is smaller than the largest value by so much is drawn as this: no logarithmic axis is of use beyond."""
PAD = 0.06
"""Room beyond the outermost points, as a share of the axis."""
TICKS_X, TICKS_Y = 4, 6
"""At most so many numbers: dates and durations are wide."""
FEW_MOMENTS = 40
"""More of them are faint lines: they must not hide the points."""
LABEL_ROWS, ROW, LETTER, LONGEST_LABEL = 4, 14.0, 7.2, 34
"""Above the plot, for what changed: rows and their height, the width of a letter, and the most letters."""
CROSS = 3.5
"""Half of the width of a cross."""
OFFSETS = ((7, -6), (7, 14), (-7, -6), (-7, 14), (14, 4), (-14, 4), (10, -20), (10, 28), (-10, -20), (-10, 28))
"""Where a text may be next to its point, the best place first."""
HOUR, DAY = 3600.0, 86400.0
STEPS_OF_DURATIONS = (*(1, 2, 5, 10, 15, 30), *(60.0 * n for n in (1, 2, 5, 10, 15, 30)), *(HOUR * n for n in (1, 2, 3, 6, 12)))
STEPS_OF_MOMENTS = (
    *(60.0 * n for n in (1, 2, 3, 5, 10, 15, 20, 30)),
    *(HOUR * n for n in (1, 1.5, 2, 3, 4, 6, 8, 12)),
    *(DAY * n for n in (1, 2, 3, 4, 5, 7, 10, 14, 21, 30, 45, 61, 91, 122, 183, 274, 365)),
)
"""None is more than twice the one before: an axis has two numbers at least."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One axis: from values to places, and the numbers at it with their texts."""

    place: Callable[[float], float]
    ticks: Sequence[tuple[float, str]]
    label: str = ""


class Ink(NamedTuple):
    """How a path is drawn: its colour, as forms/colours.py names it, width, dashes, opacity; `fill`: it is an area."""

    colour: str
    width: float = 1.0
    dashes: str = ""
    opacity: float = 1.0
    fill: bool = False


HUES = {f"hue{number}": colour for number, colour in enumerate(SEVERAL, 1)}
INKS: Mapping[str, Ink] = {
    "line": Ink("line"),
    "level": Ink("dim", 1.0, "6 4"),
    "moment": Ink("warning", 1.2, "3 3"),
    "moment many": Ink("warning", 1.2, "3 3", 0.15),
    **{
        f"{kind} {name}".rstrip(): Ink(colour, width, "", opacity, kind == "band")
        for kind, width, opacity in (("joined", 1.6, 1.0), ("band", 0.0, 0.25), ("bar", 2.0, 0.45), ("dots", 7.0, 1.0))
        for name, colour in {"": "accent", **{name: name for name in ("good", "bad", "warning", "dim")}, **HUES}.items()
    },
    "dots bad": Ink("bad", 2.0),
    "ring warning": Ink("warning", 14.0),
    "ring strong": Ink("text", 14.0),
    "hole": Ink("back", 10.0),
    "hole dim": Ink("back", 4.0),
}
"""By the classes of a path."""
Strokes = Sequence[Sequence[tuple[float, float]]]
"""Lines, each by its points; of one point it is a dot."""


class Shape(NamedTuple):
    """Strokes with what is said where one points at them; or, without any, a text that begins, ends or stands at a place."""

    kind: str
    strokes: Strokes = ()
    text: str = ""
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Paths by class, lines with what is said where one points at them, texts by place; labels of lines and points, which begin
    or (" end") end at a place, their baselines, and the room `above` for them."""

    x: Scale
    y: Scale
    width: float
    dots: Sequence[tuple[Marks, Strokes]]
    lines: Sequence[tuple[str, Strokes, str]]
    labels: Sequence[tuple[float, str, float, str]] = ()

    @property
    def above(self) -> float:
        return max((ROW - y for *_, y, _ in self.labels if y < TOP), default=0.0)

    def shapes(self) -> Iterator[Shape]:
        """All of it, from the back to the front."""
        right = self.width - RIGHT
        for value, text in self.y.ticks:
            at = self.y.place(value)
            yield Shape("line", [[(LEFT, at), (right, at)]])
            yield Shape("y", (), text, LEFT - 6, at)
        for value, text in self.x.ticks:
            at = self.x.place(value)
            yield Shape("line", [[(at, HEIGHT - BOTTOM), (at, HEIGHT - BOTTOM + 4)]])
            yield Shape("x", (), text, at, HEIGHT - BOTTOM + 17)
        yield Shape("x name", (), self.x.label, (LEFT + right) / 2, HEIGHT - 10)
        yield Shape("name", (), self.y.label, 0, 13)
        yield from (Shape(*line) for line in self.lines)
        yield from (Shape(f"label{end}", (), text, at, y) for at, end, y, text in self.labels)
        yield from (sign for marks, strokes in self.dots if marks.joined != "boxes" for sign in signs(marks, strokes))

    @property
    def legend(self) -> Sequence[tuple[str, Sequence[Shape]]]:
        """Each kind of points with its sign in the middle of 12 x 12."""
        return [(marks.name, [*signs(marks, _sign(marks, 6.0, 6.0))]) for marks, _ in self.dots]


def signs(marks: Marks, strokes: Strokes) -> Iterator[Shape]:
    """Points of a kind, with a hole where they are hollow; around others goes a ring, unless they are of no weight."""
    style, dim = f"hue{marks.hue}" if marks.hue else marks.emphasis, marks.emphasis == "dim"
    yield Shape(f"{'ring' if marks.hollow and not dim else 'dots'} {style}".rstrip(), strokes)
    if marks.hollow:
        yield Shape("hole dim" if dim else "hole", strokes)


def drawing(chart: Plot, currency: Currency) -> Drawing:
    """The shapes of a chart, in units of WIDTH x HEIGHT; what changed in time has twice the width."""
    points, times = chart.points, 2 if any(said for _, said in chart.moments) else 1
    width = times * WIDTH
    across, up = [x for x, _ in points], [y for _, y in points]
    across += [at for at, _ in chart.moments]
    for marks in chart.marks:
        across += [x for reach in marks.reach for x in reach[:2] if chart.rows]
        across += [x for reach in marks.reach for x in reach[:2] if marks.joined == "boxes"]
        up += [y for reach in marks.reach for y in reach[2:] if marks.joined]
    up += [] if chart.level is None else [chart.level]
    x = _scale(chart.x, across, (LEFT, width - RIGHT), times * TICKS_X, currency)
    x = replace(x, label=_label(chart.x_label, chart.x, currency))
    y = _scale(chart.y, up, (HEIGHT - BOTTOM, TOP), TICKS_Y, currency)
    y = replace(y, label=_label(chart.y_label, chart.y, currency))
    kind = "moment many" if len(chart.moments) > FEW_MOMENTS else "moment"
    places = [(x.place(at), said) for at, said in chart.moments]
    labelled = _labelled(places, width)
    tops = {line: y - ROW + 4 for line, *_, y, _ in labelled}
    lines = list[tuple[str, Strokes, str]]()
    lines += ((kind, [[(line, tops.get(line, TOP)), (line, HEIGHT - BOTTOM)]], said) for line, said in places)
    if chart.level is not None:
        lines.append(("level", [[(LEFT, y.place(chart.level)), (width - RIGHT, y.place(chart.level))]], ""))
    lines += [line for marks in chart.marks for line in _joined(marks, x, y, width)]
    if chart.rows:
        y = replace(y, ticks=())
        labelled = [(0.0, LEFT, " dim", y.place(row) - 9, text) for row, text in enumerate(chart.rows, 1)]
    labelled += _beside(chart.marks, x, y, width)
    named = [marks for marks in chart.marks if marks.points and marks.name]
    dots = [
        (marks, [one for a, b in marks.points if marks.joined != "boxes" for one in _sign(marks, x.place(a), y.place(b))])
        for marks in named
    ]
    return Drawing(x, y, width, dots, lines, [(at, end, y, text) for _, at, end, y, text in labelled])


def _joined(marks: Marks, x: Scale, y: Scale, width: float) -> Iterator[tuple[str, Strokes, str]]:
    """A line through points, a band around it, or bars; what reaches beyond the axes is cut off there."""

    def at(a: float, b: float) -> tuple[float, float]:
        return min(max(x.place(a), LEFT), width - RIGHT), min(max(y.place(b), TOP), HEIGHT - BOTTOM)

    style = f" hue{marks.hue}" if marks.hue else f" {marks.emphasis}".rstrip()
    reach, points = list(zip(marks.points, marks.reach, strict=False)), sorted(marks.points, key=lambda point: point[0])
    if reach and marks.joined == "line":
        upper, lower = ([at(a, ends[edge]) for (a, _), ends in reach] for edge in (3, 2))
        yield f"band{style}", [upper + lower[::-1]], ""
    elif marks.joined == "boxes":
        boxes = [[at(left, low), at(left, high), at(right, high), at(right, low)] for _, (left, right, low, high) in reach]
        yield f"band{style}", boxes, ""
    elif reach:
        bars = ([[at(left, b), at(right, b)], [at(a, low), at(a, high)]] for (a, b), (left, right, low, high) in reach)
        yield f"bar{style}", [bar for both in bars for bar in both], ""
    if marks.joined in ("line", "steps") and len(points) > 1:  # steps: what holds until the next point, or a border
        corners = [(end, b) for (_, b), (end, _) in pairwise(points)] if marks.joined == "steps" else points[1:]
        line = [place for corner, point in zip(corners, points[1:], strict=True) for place in (corner, point)]
        yield f"joined{style}", [[at(*place) for place in (points[0], *line)]], ""


def _beside(kinds: Sequence[Marks], x: Scale, y: Scale, width: float) -> list[tuple[float, float, str, float, str]]:
    """Texts next to their points, where they meet neither a point nor a text before them."""
    places = [(marks, [(x.place(a), y.place(b)) for a, b in marks.points]) for marks in kinds if marks.name]
    taken = [(a - 5, b - 5, a + 5, b + 5) for _, some in places for a, b in some]
    labels = []
    for marks, some in places:
        for (a, b), text in zip(some, marks.texts, strict=False):
            for right, down in OFFSETS if text else ():
                left = a + right if right > 0 else a + right - LETTER * len(text)
                box = (left, b + down - 10, left + LETTER * len(text), b + down + 3)
                inside = left >= LEFT and box[2] <= width and box[1] >= TOP - ROW and box[3] <= HEIGHT - BOTTOM
                if inside and not any(meet(box, other) for other in taken):
                    taken.append(box)
                    labels.append((a, a + right, " dim" if right > 0 else " dim end", b + down, text))
                    break
    return labels


def meet(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two boxes (left, top, right, bottom) lie on each other."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _labelled(moments: Sequence[tuple[float, str]], width: float) -> list[tuple[float, float, str, float, str]]:
    """Lines with a label: where it begins or ends, baseline, text; newest first, in the lowest row where it meets no other."""
    placed: list[tuple[int, float, float, float]] = []
    labels = []
    for line, said in sorted(moments, reverse=True):
        text = said if len(said) <= LONGEST_LABEL else f"{said[: LONGEST_LABEL - 1]}…"
        wide = LETTER * len(text)
        at, end, left = (line + 3, "", line + 3) if line + 3 + wide <= width else (line - 3, " end", line - 3 - wide)
        rows = (row for row in range(LABEL_ROWS) if not any(_meet((row, left, left + wide, line), one) for one in placed))
        if (row := next(rows, None)) is not None:
            placed.append((row, left, left + wide, line))
            labels.append((line, at, end, TOP - 4 - ROW * row, text))
    return labels


def _meet(one: tuple[int, float, float, float], other: tuple[int, float, float, float]) -> bool:
    """Whether labels (row, left, right, line) lie on each other, or the line of the upper one runs through the lower one."""
    (row, left, right, _), (above, its_left, its_right, line) = sorted((one, other))
    return left < its_right and its_left < right if row == above else left - 3 <= line <= right + 3


def _sign(marks: Marks, x: float, y: float) -> Strokes:
    """A dot; a cross where something is bad: who sees no colours sees that."""
    cross = [[(x - CROSS, y - CROSS), (x + CROSS, y + CROSS)], [(x + CROSS, y - CROSS), (x - CROSS, y + CROSS)]]
    return cross if marks.emphasis == "bad" else [[(x, y)]]


def path(strokes: Strokes) -> str:
    """As SVG has it; a dot is a line of no length with round ends."""
    return "".join(f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)}{'' if points[1:] else 'h0'}" for points in strokes)


def _label(said: str, quantity: str, currency: Currency) -> str:
    """The name of an axis, with the unit that its numbers share."""
    unit = numbers.written(quantity, 1.0, currency).partition(" ")[2] if _unit_apart(quantity) else ""
    return f"{said or names.heading(quantity)}{unit and ', '}{unit}"


def _unit_apart(quantity: str) -> bool:
    return names.quantity(quantity).form in numbers.UNIT_LAST


def _scale(quantity: str, values: Sequence[float], ends: tuple[float, float], most: int, currency: Currency) -> Scale:
    """The scale of a quantity over these values, at least one."""
    low, high = min(values), max(values)
    moment = names.quantity(quantity).form == "moment"
    if not moment and low > 0 and high / low > WIDE:
        return _logarithmic(quantity, low, high, ends, most, currency)
    pad = PAD * (high - low) or PAD * abs(high) or 1.0
    start, end = low - pad, high + pad
    if low >= 0 and not moment and low < 0.5 * high:
        start = 0.0
    factor = (ends[1] - ends[0]) / (end - start)
    step = _step(quantity, end - start, most, currency)
    first = math.ceil(start / step)
    ticks = [number * step for number in range(first, first + most + 2) if number * step <= end]
    texts = [(tick, _text(quantity, tick, step, currency)) for tick in ticks]
    return Scale(lambda value: ends[0] + (value - start) * factor, texts)


def _logarithmic(quantity: str, low: float, high: float, ends: tuple[float, float], most: int, currency: Currency) -> Scale:
    low = max(low, high * SMALLEST)
    pad = (high / low) ** PAD
    start, end = math.log(low / pad), math.log(high * pad)
    inside = [tick for tick in _round_values(quantity, low, high, currency) if start <= math.log(tick) <= end] or [low]
    factor = (ends[1] - ends[0]) / (end - start)
    texts = [(tick, _text(quantity, tick, 0.0, currency)) for tick in inside[:: math.ceil(len(inside) / most)]]
    return Scale(lambda value: ends[0] + (math.log(max(value, low)) - start) * factor, texts)


def _round_values(quantity: str, low: float, high: float, currency: Currency) -> list[float]:
    """Numbers for a logarithmic axis, in the unit that people read."""
    if names.quantity(quantity).form == "duration" and low >= 1 and high <= 2 * STEPS_OF_DURATIONS[-1]:
        return list(STEPS_OF_DURATIONS)
    unit = _unit(quantity, currency)
    exponents = range(math.floor(math.log10(low / unit)), math.ceil(math.log10(high / unit)) + 1)
    return [base * 10.0**exponent * unit for exponent in exponents for base in (1, 2, 5)]


def _step(quantity: str, span: float, most: int, currency: Currency) -> float:
    """The distance of the numbers at an axis: round in the unit that people read, at most `most` of them."""
    form = names.quantity(quantity).form
    steps: Sequence[float] = ()
    if form == "moment":
        steps = STEPS_OF_MOMENTS
    elif form == "duration":
        steps = STEPS_OF_DURATIONS
    if fitting := [step for step in steps if span / step <= most and step >= span / most]:
        return fitting[0]
    unit = DAY if steps and span > DAY else _unit(quantity, currency)
    rough = span / unit / most
    power = 10.0 ** math.floor(math.log10(rough))
    return unit * next(power * base for base in ((1, 2, 2.5, 5, 10) if quantity else (1, 2, 5, 10)) if power * base >= rough)


def _unit(quantity: str, currency: Currency) -> float:
    """What a number is a multiple of where people read it in another unit than records have it."""
    form = names.quantity(quantity).form
    return 1 / currency.per_usd if form == "money" else 0.01 if form == "percent" else 1.0


def _text(quantity: str, value: float, step: float, currency: Currency) -> str:
    """A number at an axis; of a moment the day, or without the year the time, by how far they are apart."""
    text, form = numbers.written(quantity, value, currency), names.quantity(quantity).form
    if form == "moment":
        return text[:10] if step >= DAY else text[5:]
    if value == 0 and form != "change":
        return "0"
    return text.partition(" ")[0] if _unit_apart(quantity) else text
