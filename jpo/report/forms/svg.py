"""A chart as inline SVG: shapes with classes, which the page's style colours, and texts; no style of its own, no script.

Who does not see it has its description. Thousands of points are one path: a dot is a line of no length with round ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jpo.records import Currency
from jpo.report.document import Marks, Plot
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


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the template writes down: paths by class, lines with what is said where one points at them, texts by place; labels of
    lines, which begin or (" end") end at a place, their baselines, and the room `above` for them."""

    x: Scale
    y: Scale
    width: float
    dots: Sequence[tuple[Marks, str]]
    lines: Sequence[tuple[str, str, str]]
    labels: Sequence[tuple[float, str, float, str]] = ()

    @property
    def above(self) -> float:
        return max((ROW - y for *_, y, _ in self.labels), default=0.0)

    @property
    def legend(self) -> Sequence[tuple[Marks, str]]:
        """Each kind of points with its sign in the middle of 12 x 12."""
        return [(marks, _sign(marks, 6.0, 6.0)) for marks, _ in self.dots]


def drawing(chart: Plot, currency: Currency) -> Drawing:
    """The shapes of a chart, in units of WIDTH x HEIGHT; what changed in time has twice the width."""
    points, times = chart.points, 2 if chart.moments else 1
    width = times * WIDTH
    across, up = [x for x, _ in points], [y for _, y in points]
    across += [at for at, _ in chart.moments]
    x = _scale(chart.x, across, (LEFT, width - RIGHT), times * TICKS_X, currency)
    x = replace(x, label=_label(chart.x_label, chart.x, currency))
    y = _scale(chart.y, up, (HEIGHT - BOTTOM, TOP), TICKS_Y, currency)
    y = replace(y, label=_label(chart.y_label, chart.y, currency))
    kind = "moment many" if len(chart.moments) > FEW_MOMENTS else "moment"
    places = [(x.place(at), said) for at, said in chart.moments]
    labelled = _labelled(places, width)
    tops = {line: y - ROW + 4 for line, *_, y, _ in labelled}
    lines = [(kind, f"M{line:.1f} {tops.get(line, TOP):g}V{HEIGHT - BOTTOM:g}", said) for line, said in places]
    if len(chart.stairs) > 1:  # a value that holds until the next one, or the border of what the points dominate
        (first_x, first_y), *rest = sorted(chart.stairs, key=lambda point: point[0])
        path = "".join(f"H{x.place(a):.1f}V{y.place(b):.1f}" for a, b in rest)
        lines.append(("stairs", f"M{x.place(first_x):.1f} {y.place(first_y):.1f}{path}", ""))
    named = [marks for marks in chart.marks if marks.points and marks.name]
    dots = [(marks, "".join(_sign(marks, x.place(a), y.place(b)) for a, b in marks.points)) for marks in named]
    return Drawing(x, y, width, dots, lines, [(at, end, y, text) for _, at, end, y, text in labelled])


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


def _sign(marks: Marks, x: float, y: float) -> str:
    """A dot; a cross where something is bad: who sees no colours sees that."""
    return f"M{x - CROSS:.1f} {y - CROSS:.1f}l7 7m0-7l-7 7" if marks.emphasis == "bad" else f"M{x:.1f} {y:.1f}h0"


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
    return unit * next(power * base for base in (1, 2, 2.5, 5, 10) if power * base >= rough)


def _unit(quantity: str, currency: Currency) -> float:
    """What a number is a multiple of where people read it in another unit than records have it."""
    form = names.quantity(quantity).form
    return 1 / currency.per_usd if form == "money" else 0.01 if form == "percent" else 1.0


def _text(quantity: str, value: float, step: float, currency: Currency) -> str:
    """A number at an axis; of a moment the day, or without the year the time, by how far they are apart."""
    text = numbers.written(quantity, value, currency)
    if names.quantity(quantity).form == "moment":
        return text[:10] if step >= DAY else text[5:]
    return "0" if value == 0 else text.partition(" ")[0] if _unit_apart(quantity) else text
