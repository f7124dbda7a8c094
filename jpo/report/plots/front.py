"""The trade-off front as a picture: facts are filled points, predictions hollow ones with their intervals, the front is steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.optimizer.pareto.front import Front, Point, difference, unit_of
from jpo.report.forms.colours import LIGHT
from jpo.report.plots.picture import dress, save
from jpo.wording import names
from jpo.wording.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

    from jpo.records import Floats

MEASURED, PREDICTED, DOMINATED = LIGHT["accent"], LIGHT["warning"], LIGHT["dim"]
WIDE = 20.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
PAD = 0.12
"""Room beyond the outermost points, as a share of the axis; intervals may reach beyond it, and are cut off there."""
OFFSETS = (
    *((7, 6), (7, -12), (-7, 6), (-7, -12), (12, -3), (-12, -3), (9, 18), (-9, 18), (9, -24), (-9, -24)),
    *((12, 32), (12, -38), (-12, 32), (-12, -38), (16, 48), (16, -54), (-16, 48), (-16, -54), (60, 20), (60, -26), (-60, 20)),
)
"""Where a label may be, next to its point, in 1/72 inch, the best place first."""
DOT_PIXELS, MARK_PIXELS, SAME_PLACE_PIXELS = 6.0, 15.0, 4.0
"""Half the width of a point and of a mark around it; what is nearer than the last is in one place."""
LEADER = {"arrowstyle": "-", "linewidth": 0.4, "color": "0.5", "shrinkA": 0.0, "shrinkB": 4.0}
"""The line from a label to its point."""
GROUND = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7}
"""What makes a label readable over bars and lines."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a panel: a quantity, what it is multiplied with, the axis' title, and whether more is better."""

    quantity: str
    factor: float
    title: str
    maximised: bool


def plot(front: Front, file: Path) -> None:
    """Draw the first objective against each of the others; errors as of picture.save."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    x, *others = (axis_of(front, quantity) for quantity in front.quantities)
    with rc_context({"text.parse_math": False}):  # names are shown as they are
        figure = Figure(figsize=(2.6 + 5.2 * len(others), 5.4), dpi=150, layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(others), squeeze=False)[0]
        for axes, y in zip(panels, others, strict=True):
            draw(axes, front, x, y)
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8, markerscale=0.7)
        figure.suptitle(f"{printable(str(front.workload))}: runs, and predictions with 90% intervals", fontsize=10)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # everything stays where it is now, and labels fit there
        for axes, y in zip(panels, others, strict=True):
            write_labels(axes, front, x, y)
        save(figure, file)


def axis_of(front: Front, quantity: str) -> Axis:
    """The unit in which a quantity is shown, with its title."""
    largest = max((point.values[quantity] for point in front.points if quantity in point.values), default=0.0)
    factor, unit = unit_of(quantity, largest, front.currency)
    maximised = front.maximised(quantity)
    title = names.heading(quantity) + (f", {unit}" if unit else "") + (" (more is better)" if maximised else "")
    return Axis(quantity, factor, title, maximised)


def draw(axes: Axes, front: Front, x: Axis, y: Axis) -> None:
    """One panel: points with intervals, the front, today's and the suggested configuration."""
    measured, predicted = (drawable(front.points_of_kind(measured=kind), x, y) for kind in (True, False))
    for points, colour, kind in ((measured, MEASURED, "measured"), (predicted, PREDICTED, "predicted")):
        dots(axes, [point for point in points if not at_front(point)], x, y, DOMINATED, f"{kind}, dominated")
        dots(axes, [point for point in points if at_front(point)], x, y, colour, f"{kind}, on the front")
    facts = [point for point in measured if point.on_front]
    expected = [point for point in (*measured, *predicted) if point.on_expected_front]
    if len(front.objectives) == 2:  # with more of them the front is no line
        stairs(axes, facts, x, y, MEASURED, "-")
        stairs(axes, expected if expected != facts else [], x, y, PREDICTED, "--")
    for mark, marker, size in (("today", "s", 130), ("suggested", "D", 170)):
        at = positions([point for point in (*measured, *predicted) if mark in point.marks], x, y)
        if len(at):
            axes.scatter(at[:, 0], at[:, 1], s=size, marker=marker, facecolors="none", edgecolors="black", zorder=4, label=mark)
    axes.set(xlabel=x.title, ylabel=y.title)
    dress(axes)
    every = positions([*measured, *predicted], x, y)
    if len(every):
        scaled(axes, "x", every[:, 0])
        scaled(axes, "y", every[:, 1])
    else:
        axes.text(0.5, 0.5, "nothing is known yet", transform=axes.transAxes, ha="center", color="0.4")


def dots(axes: Axes, points: Sequence[Point], x: Axis, y: Axis, shade: str, label: str) -> None:
    """Points of one kind: facts are filled, predictions are hollow and have bars."""
    if not points:
        return
    at, measured = positions(points, x, y), bool(points[0].runs)
    if not measured:
        bars: dict[str, Any] = {"ecolor": shade, "elinewidth": 0.8, "alpha": 0.4, "zorder": 1}
        axes.errorbar(at[:, 0], at[:, 1], reach(points, y), reach(points, x), fmt="none", **bars)
    axes.scatter(at[:, 0], at[:, 1], s=34, facecolors=shade if measured else "white", edgecolors=shade, zorder=3, label=label)


def stairs(axes: Axes, points: Sequence[Point], x: Axis, y: Axis, colour: str, style: str) -> None:
    """A front as the border of what its points dominate."""
    corners = positions(sorted(points, key=lambda point: point.values[x.quantity]), x, y)
    line: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": 1.2, "alpha": 0.7, "zorder": 2}
    axes.step(corners[:, 0], corners[:, 1], where="pre" if x.maximised else "post", **line)


def at_front(point: Point) -> bool:
    """Facts are held against facts."""
    return point.on_front if point.runs else point.on_expected_front


def drawable(points: Sequence[Point], x: Axis, y: Axis) -> list[Point]:
    """Those that have a place on both axes."""
    return [point for point in points if {x.quantity, y.quantity} <= set(point.values)]


def positions(points: Sequence[Point], x: Axis, y: Axis) -> Floats:
    """Shape (n, 2), in the units of the axes."""
    rows = [[axis.factor * point.values[axis.quantity] for axis in (x, y)] for point in points]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def reach(points: Sequence[Point], axis: Axis) -> Floats:
    """How far the intervals reach down and up, shape (2, n)."""
    pairs = [(point.values[axis.quantity], point.bounds[axis.quantity]) for point in points]
    rows = [[middle - bounds.low for middle, bounds in pairs], [bounds.high - middle for middle, bounds in pairs]]
    return axis.factor * np.array(rows, dtype=np.float64)


def scaled(axes: Axes, which: str, values: Floats) -> None:
    """Limits around the points, and a logarithmic axis where they are far apart."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = float(values.min()), float(values.max())
    axis = axes.xaxis if which == "x" else axes.yaxis
    if low > 0 and high / low > WIDE:
        pad = (high / low) ** PAD
        axes.set(**{f"{which}scale": "log", f"{which}lim": (low / pad, high * pad)})
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    else:
        pad = PAD * (high - low) or PAD * abs(high) or 1.0
        axes.set(**{f"{which}lim": (low - pad, high + pad)})


def write_labels(axes: Axes, front: Front, x: Axis, y: Axis) -> None:
    """What differs from today next to each point of a front, where there is room: marked points first, none over another, a mark,
    or the line to another. Points in one place have one label, of the first of them."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    shown = drawable(front.points, x, y)
    spots = axes.transData.transform(positions(shown, x, y))
    sizes = [MARK_PIXELS if point.marked else DOT_PIXELS for point in shown]
    dots = [
        Bbox.from_bounds(left - size, bottom - size, 2 * size, 2 * size)
        for (left, bottom), size in zip(spots, sizes, strict=True)
    ]
    written: list[Bbox] = []
    wanted = [at for at, point in enumerate(shown) if (at_front(point) or point.marked) and "today" not in point.marks]
    wanted.sort(key=lambda at: ("suggested" not in shown[at].marks, not shown[at].runs))
    for at, alike in in_one_place(wanted, spots):
        text = difference(shown[at].parameters, front.today) + (f" (+{alike} alike)" if alike else "")
        for offset in OFFSETS:
            side = "left" if offset[0] > 0 else "right"
            place = tuple(positions([shown[at]], x, y)[0])
            label = axes.annotate(
                text, place, offset, textcoords="offset points", ha=side, fontsize=7, color="0.25", arrowprops=LEADER, bbox=GROUND
            )
            label.get_window_extent()  # moves it to its place
            box = Text.get_window_extent(label).padded(3)  # without the line to its point
            inside = axes.bbox.contains(box.x0, box.y0) and axes.bbox.contains(box.x1, box.y1)
            line = line_to(box, spots[at], right=side == "left")
            if inside and not any(map(box.overlaps, (*dots, *written))) and not any(map(line.overlaps, written)):
                written += [box, line]
                break
            label.remove()


def in_one_place(wanted: Sequence[int], spots: Floats) -> Iterator[tuple[int, int]]:
    """The first of the points that lie on each other, and how many more there are."""
    left = [*wanted]
    while left:
        first = left.pop(0)
        alike = [at for at in left if np.abs(spots[at] - spots[first]).max() < SAME_PLACE_PIXELS]
        left = [at for at in left if at not in alike]
        yield first, len(alike)


def line_to(box: Bbox, spot: Floats, *, right: bool) -> Bbox:
    """What the line from a label to its point goes through: from the nearest corner to the point."""
    from matplotlib.transforms import Bbox

    corner = (box.x0 if right else box.x1, box.y0 if box.y0 > spot[1] else box.y1 if box.y1 < spot[1] else spot[1])
    left, bottom = min(corner[0], spot[0]), min(corner[1], spot[1])
    return Bbox.from_extents(left, bottom, max(corner[0], spot[0]) + 0.5, max(corner[1], spot[1]) + 0.5)
