"""The trade-off front for people: what was measured, what is predicted, and how much that would add."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jpo.optimizer.front import LABELS, Front, Point, difference, maximised, shown, unit_of
from jpo.report.page import blank_page, text_of
from jpo.wording import numbers
from jpo.wording.names import SHORT
from jpo.wording.printable import printable

MOST_DOMINATED = 12
"""Dominated measured points in the table; JSON has all of them."""


def render(front: Front, *, width: int = 120, colour: bool = False) -> str:
    """The tables and what must be known to read them."""
    console = blank_page(width, colour=colour)
    axes = ", ".join(LABELS[quantity] + (" (more is better)" if maximised(quantity) else "") for quantity in front.quantities)
    console.print(Text.assemble("Workload ", (printable(str(front.workload)), "bold"), f"   trade-off of {axes}"), "", sep="\n")
    measured, predicted = front.of_kind(measured=True), front.of_kind(measured=False)
    rows, hidden = without_most_dominated(measured)
    names = differing([*rows, *predicted])
    if measured:
        console.print("Measured: medians of the runs that ended well", style="bold")
        console.print(Padding(table(rows, names, front), (0, 0, 0, 2)))
        console.print(*([f"  and {hidden} more that are dominated"] if hidden else []), "", sep="\n")
    if any(point.values for point in predicted):
        console.print("Predicted, not measured: with 90% intervals", style="bold")
        console.print(Padding(table(predicted, names, front), (0, 0, 0, 2)), "", sep="\n")
    for line in (*of_reference(front), *sentences(front, names)):
        console.print(Text(line))
    for note in front.notes:
        console.print(Text(printable(f"Note: {note}"), style="yellow"))
    return text_of(console)


def without_most_dominated(points: Sequence[Point]) -> tuple[list[Point], int]:
    """All that lie on the front or are marked, and the first few of the others; how many that leaves out."""
    others = [point for point in points if not (point.on_front or point.marks)]
    first = others[:MOST_DOMINATED]
    return [point for point in points if point.on_front or point.marks or point in first], len(others) - len(first)


def differing(points: Sequence[Point]) -> list[str]:
    """Parameters in which the points differ."""
    names = points[0].parameters if points else ()
    return [name for name in names if len({point.parameters[name] for point in points}) > 1]


def table(points: Sequence[Point], names: Sequence[str], front: Front) -> Table:
    """One row for each point: what is set, what came or is expected of it, where it lies."""
    measured = bool(points[0].runs)
    found = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in (*(SHORT.get(name, name) for name in names), *(["runs"] if measured else [])):
        found.add_column(name, no_wrap=True)
    for name in (*(LABELS[quantity] for quantity in front.quantities), "front", ""):
        found.add_column(name, overflow="fold")
    for point in points:
        cells = [*(numbers.plain(point.parameters[name]) for name in names), *([str(point.runs)] if measured else [])]
        cells += [value(point, quantity, front) for quantity in front.quantities]
        found.add_row(*cells, Text(place(point, front), style="green" if point.on_expected_front else ""), remarks(point))
    return found


def value(point: Point, quantity: str, front: Front) -> str:
    """A measured value, or an expected one with its interval."""
    if quantity not in point.values:
        return numbers.UNKNOWN
    told, interval = shown(quantity, point.values[quantity], front.currency), point.bounds.get(quantity)
    if interval is None:
        return told
    low, high = (shown(quantity, bound, front.currency) for bound in (interval.low, interval.high))
    units = {text.partition(" ")[2] for text in (told, low, high)}
    if len(units) == 1:  # said once is enough: 4.10 USD (2.69 to 7.79)
        low, high = (text.partition(" ")[0] for text in (low, high))
    return f"{told} ({low} to {high})"


def place(point: Point, front: Front) -> str:
    """Where a point lies, in words; empty where a value is unknown."""
    if not whole(point, front):
        return ""
    if point.runs and point.on_front and not point.on_expected_front:
        return "yes; a prediction beats it"
    return "yes" if point.on_expected_front else "no"


def whole(point: Point, front: Front) -> bool:
    """Whether every objective is known of it."""
    return set(front.quantities) <= set(point.values)


def remarks(point: Point) -> Text:
    """Marks, and what speaks against it."""
    against = [f"breaks {', '.join(point.breaks)}"] if point.breaks else []
    if point.p_fail is not None and point.p_fail >= 0.05:
        against.append(f"fails with {numbers.percent(point.p_fail)}")
    plain = [mark for mark in point.marks if not mark.startswith("prefer ")]
    wanted = [mark.removeprefix("prefer ") for mark in point.marks if mark.startswith("prefer ")]
    marks = "; ".join([*([", ".join(plain)] if plain else []), *([f"prefer {', '.join(wanted)}"] if wanted else [])])
    return Text.assemble((marks, "bold"), "; " if marks and against else "", ("; ".join(against), "yellow"))


def of_reference(front: Front) -> list[str]:
    """The reference point and the hypervolumes up to it."""
    volumes = front.volumes
    if volumes is None:
        return []
    at = ", ".join(
        f"{LABELS[quantity]} {shown(quantity, limit, front.currency)}" for quantity, limit in volumes.reference.items()
    )
    scales = [unit_of(quantity, limit, front.currency) for quantity, limit in volumes.reference.items()]
    amount = f"{volumes.measured * math.prod(factor for factor, _ in scales):.4g}"
    unit = " × ".join(unit or LABELS[quantity] for quantity, (_, unit) in zip(front.quantities, scales, strict=True))
    told = [f"Reference point: {at}.", f"Hypervolume of the measured front up to it: {amount} {unit} (more is better)."]
    if volumes.expected > volumes.measured:
        told.append(
            f"Predicted points would add {added(volumes.expected, volumes.measured)}, and at the worse ends of their intervals "
            f"{added(volumes.unlucky, volumes.measured)}: a prediction, and the best of many are rarely as good as they look."
        )
    return told


def added(volume: float, to: float) -> str:
    """How much more, in per cent of what was there."""
    if volume == to:
        return "nothing"
    if not to:
        return "all of it"
    more = 100 * (volume / to - 1)
    if more < 0.1:
        return "less than 0.1%"
    return f"{more:.0f}%" if more >= 10 else f"{more:.2g}%"


def sentences(front: Front, names: Sequence[str]) -> list[str]:
    """What is the same everywhere, what would be suggested, and what is not shown."""
    told = []
    same = [f"{SHORT.get(name, name)} {numbers.plain(value)}" for name, value in front.today.items() if name not in names]
    if same and any(point.values for point in front.points):
        told.append(f"The same in all: {', '.join(same)}.")
    if front.suggested is not None:
        told.append(f"`jpo suggest` would choose: {difference(front.suggested, front.today)}; {front.because}.")
        chosen = [point for point in front.points if "suggested" in point.marks and whole(point, front)]
        if any(not point.on_expected_front for point in chosen):
            told.append("It lies behind this front: a suggestion also weighs what has no axis here, and how sure a forecast is.")
    else:
        told.append(f"`jpo suggest` would find nothing: {front.because}.")
    if front.left_out:
        told.append("Not shown: " + "; ".join(f"{reason} ({count})" for reason, count in front.left_out.items()) + ".")
    return [printable(line) for line in told]
