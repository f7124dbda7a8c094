"""A picture of a benchmark: each player's figure as a point, its interval as a bar, and both as text. Equal rows, equal bytes.

Narrower than the charts of a report (jpo/report/forms/svg.py), with the numbers written beside their points: a telephone shows it
without scrolling, and who compares it with a table needs no ruler.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from xml.sax.saxutils import escape

from jpo.report.forms.colours import LIGHT

WIDTH, EDGE, ROW, LINE = 400, 12, 38, 18
LETTERS = 50
"""Of a line of the axis' name."""
NUMBER = r"-?\d*\.?\d+"
FIGURE = re.compile(rf"\**({NUMBER})%?\**(?: ± ({NUMBER})%?| \(({NUMBER}) ?(?:to|-) ?({NUMBER})\))?")
COLOURS = {"jpo": "accent", "peer": "dim"}
STYLE = "font-family='system-ui, sans-serif' font-size='13'"


def numbers(said: str) -> tuple[float, float, float]:
    """A figure with its interval as a table has it: 0.5, 0.5 ± 0.1, 0.5 (0.4 to 0.6); without one, thrice the figure."""
    found = FIGURE.match(said.replace(",", ""))
    if found is None:
        raise ValueError(f"{said!r} begins with no number")
    value, around = float(found[1]), float(found[2] or 0)
    return value, float(found[3] or value - around), float(found[4] or value + around)


def shown(said: str) -> str:
    """A figure without what a table adds to it."""
    return found[0].replace("**", "") if (found := FIGURE.match(said)) else said


def scale(values: Sequence[float], logarithmic: bool) -> tuple[Callable[[float], float], Sequence[float]]:
    """Places between the edges, and the values at the axis: from 0, or powers of ten."""
    low, high = min(values), max(values)
    if logarithmic:
        ticks = [10.0**n for n in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        first, span = math.log(ticks[0]), math.log(ticks[-1] / ticks[0])
        return (lambda value: EDGE + (WIDTH - 2 * EDGE) * (math.log(max(value, ticks[0])) - first) / span), ticks
    rough = (max(high, 0) - min(low, 0)) / 4 or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * base for base in (1, 2, 2.5, 5, 10) if power * base >= rough * 0.999)
    first, last = math.floor(min(low, 0) / step + 1e-9), math.ceil(max(high, 0) / step - 1e-9)
    ticks = [step * n for n in range(first, last + 1)]
    return (lambda value: EDGE + (WIDTH - 2 * EDGE) * (value - ticks[0]) / (ticks[-1] - ticks[0])), ticks


def picture(rows: Sequence[Mapping[str, str]], axis: str, level: float | None = None, logarithmic: bool = False) -> str:
    """Rows have a `name`, `who` it is (jpo or peer) and what is `said` of it, or are the `group` of what follows; as SVG.

    Args:
        axis: what the figures are, and which of them are good.
        level: a figure that others are compared with: a line.
    """
    figures = [numbers(row["said"]) for row in rows if "said" in row]
    place, ticks = scale([*(one for figure in figures for one in figure), *(() if level is None else (level,))], logarithmic)
    lines, down = [], EDGE
    for row in rows:
        if "group" in row:
            lines.append(text(EDGE, down + 20, row["group"], f"fill='{LIGHT['dim']}'"))
            down += LINE + 8
            continue
        value, low, high = (f"{place(one):.1f}" for one in numbers(row["said"]))
        colour, bold = LIGHT[COLOURS[row["who"]]], "font-weight='bold'" if row["who"] == "jpo" else ""
        y = down + 24
        lines += [
            text(EDGE, down + 14, row["name"], bold),
            text(WIDTH - EDGE, down + 14, shown(row["said"]), f"text-anchor='end' {bold}"),
            f"<path d='M{EDGE} {y}H{WIDTH - EDGE}' stroke='{LIGHT['line']}'/>",
            f"<path d='M{low} {y}H{high}' stroke='{colour}' stroke-width='5' stroke-opacity='.4'/>",
            f"<circle cx='{value}' cy='{y}' r='5' fill='{colour}'/>",
        ]
        down += ROW
    if level is not None:
        lines.insert(0, f"<path d='M{place(level):.1f} {EDGE}V{down}' stroke='{LIGHT['line']}' stroke-width='2'/>")
    for tick in ticks:
        at = min(max(place(tick), EDGE + 8), WIDTH - EDGE - 8)
        lines += [
            f"<path d='M{place(tick):.1f} {down}v5' stroke='{LIGHT['dim']}'/>",
            text(at, down + LINE, f"{tick:.6g}", f"text-anchor='middle' fill='{LIGHT['dim']}'"),
        ]
    down += LINE
    for line in wrap(axis, LETTERS):
        lines.append(text(EDGE, down := down + LINE, line, f"fill='{LIGHT['dim']}'"))
    height = down + EDGE
    frame = f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' viewBox='0 0 {WIDTH} {height}' {STYLE}>"
    return "\n".join([frame, f"<rect width='100%' height='100%' fill='{LIGHT['back']}'/>", *lines, "</svg>\n"])


def text(x: float, y: float, said: str, how: str = "") -> str:
    colour = "" if "fill=" in how else f" fill='{LIGHT['text']}'"
    return f"<text x='{x:.1f}' y='{y}'{colour} {how}>{escape(said)}</text>".replace(" >", ">")
