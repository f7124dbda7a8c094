"""Charts as a picture: SVG, or PNG where matplotlib is installed, which draws the same shapes. Equal charts give equal bytes."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from jpo.errors import UsageError
from jpo.files import whole
from jpo.records import USD, Currency
from jpo.report.document import Plot
from jpo.report.forms.colours import LIGHT, SEVERAL
from jpo.report.forms.svg import HEIGHT, INKS, LETTER, WIDTH, Drawing, Shape, drawing
from jpo.wording.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = (".png", ".svg")
LINE, EDGE = 20.0, 16.0
"""Height of a line of text, and the margin."""
PIXEL = 0.72
"""Of an SVG, in points of matplotlib: 100 of them are an inch."""
Placed: TypeAlias = "tuple[float, float, Shape]"
"""A shape, moved to the right and down."""


def can_plot(file: Path) -> None:
    """Find out before a long simulation that the picture could not be drawn or kept."""
    if file.suffix.lower() not in FORMS:
        raise UsageError("--plot", f"{file} is neither .png nor .svg", "name e.g. --plot fleet.png", code="JPO-E712")
    if file.suffix.lower() == ".png" and find_spec("matplotlib") is None:
        remedy = 'name an .svg, or pip install "jpo[simulate]"'
        raise UsageError("--plot", "a .png needs matplotlib, which is not installed", remedy, code="JPO-E713")


def save(charts: Sequence[Plot], file: Path, title: str, currency: Currency = USD, hues: Sequence[str] = ()) -> None:
    """Write charts below each other, under a title; `hues`: in place of SEVERAL. Raises UsageError: JPO-E307, no such place."""
    drawn = [(chart, drawing(chart, currency)) for chart in charts if chart.points]
    width = max([WIDTH, *(one.width for _, one in drawn)]) + 2 * EDGE
    named = {**LIGHT, **dict(zip(SEVERAL, hues, strict=False))}
    shapes = list(_laid_out(drawn, title, width))
    height = shapes[-1][1] + EDGE
    with whole(file, remedy="name another --plot") as new:
        if file.suffix.lower() == ".svg":
            new.write(_svg(shapes, width, height, named).encode())
        else:
            _png(shapes, width, height, named, new)


def _laid_out(drawn: Sequence[tuple[Plot, Drawing]], title: str, width: float) -> Iterator[Placed]:
    """Title, and of each chart its own, shapes, legend and sentences, one below the other; the last one is the end."""
    down = EDGE
    for line in _lines(title, width):
        yield (EDGE, down := down + LINE, Shape("title", (), line))
    if not drawn:
        yield (EDGE, down := down + LINE, Shape("key", (), "nothing is known yet"))
    for chart, one in drawn:
        yield (EDGE, down := down + LINE, Shape("name", (), printable(chart.title)))
        down += one.above + LINE / 2
        yield from ((EDGE, down + 4 * (shape.kind == "y"), shape) for shape in one.shapes())
        down += HEIGHT + LINE / 2
        right = EDGE
        for name, signs in one.legend:
            if right + LETTER * len(name) + 2 * LINE > width:
                right, down = EDGE, down + LINE
            yield from ((right, down - 10, sign) for sign in signs)
            yield (right + LINE, down, Shape("name", (), printable(name)))
            right += LETTER * len(name) + 2 * LINE
        for line in _lines(f"{chart.description} {chart.key}".strip(), width):
            yield (EDGE, down := down + LINE, Shape("key", (), line))
        down += LINE
    yield (0.0, down, Shape("end"))


def _lines(text: str, width: float) -> Sequence[str]:
    return wrap(printable(text), int((width - 2 * EDGE) / LETTER * 1.05))


def _manner(shape: Shape) -> tuple[str, str]:
    """The colour of a text, and where it is at its place."""
    first, *more = shape.kind.split()
    of_change = shape.kind in ("label", "label end")
    colour = "text" if first in ("title", "name") or "name" in more else "warning" if of_change else "dim"
    return LIGHT[colour], "right" if "end" in more or first == "y" else "center" if first == "x" else "left"


def _svg(shapes: Sequence[Placed], width: float, height: float, named: Mapping[str, str]) -> str:
    from jpo.report.forms.html import inks, template

    return template("picture.svg.jinja").render(shapes=shapes, width=width, height=height, colours=named, inks=inks(named)) + "\n"


def _png(shapes: Sequence[Placed], width: float, height: float, named: Mapping[str, str], file: BinaryIO) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 100, height / 100), dpi=200)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    for order, (right, down, shape) in enumerate(shapes):
        if shape.strokes:
            _ink(axes, shape, right, down, named, order)
        elif shape.text:
            colour, anchor = _manner(shape)
            place: dict[str, Any] = {"ha": anchor, "va": "baseline", "zorder": order}
            weight = "bold" if shape.kind == "title" else "normal"
            x, y = right + shape.x, down + shape.y
            axes.text(x, y, shape.text, color=colour, fontsize=12 * PIXEL, weight=weight, parse_math=False, **place)
    figure.savefig(file, format="png")


def _ink(axes: "Axes", shape: Shape, right: float, down: float, named: Mapping[str, str], order: int) -> None:
    """Strokes in their ink."""
    ink = INKS[shape.kind]
    dots = []
    style: dict[str, Any] = {"color": named.get(ink.colour, ink.colour), "alpha": ink.opacity, "zorder": order}
    for points in shape.strokes:
        places = [(right + x, down + y) for x, y in points]
        if ink.fill:
            axes.fill(*zip(*places, strict=True), linewidth=0, **style)
        elif len(places) == 1:
            dots.append(places[0])
        else:
            dashes = tuple(float(one) / ink.width for one in ink.dashes.split())
            axes.plot(*zip(*places, strict=True), linewidth=ink.width * PIXEL, linestyle=(0, dashes) if dashes else "-", **style)
    if dots:
        axes.plot(*zip(*dots, strict=True), "o", markersize=ink.width * PIXEL, markeredgewidth=0, **style)
