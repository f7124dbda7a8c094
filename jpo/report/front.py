"""Front: the trade-offs that were measured, what is predicted, and how much that would add; as tables and as a picture."""

from collections.abc import Sequence
from dataclasses import asdict

from jpo.optimizer.pareto.front import Front, Point, Unshown, difference, gain, measured_volume
from jpo.records import USD, Currency, texts_of
from jpo.report import headline
from jpo.report.document import Block, Cell, Column, Document, Emphasis, Inline, Marks, Plot, Row, Section, Span, Table
from jpo.wording import names, numbers

MOST_DOMINATED = 12
"""Dominated measured points in the table; JSON has all of them."""
RISKY = 0.05
"""A probability of failing that is worth a remark."""
PUBLISHED = {
    "failed": "runs that did not end well",
    "unmeasured": "runs without {}",
    "unforecast": "configurations without a forecast",
    "risky": "configurations with more than 20 % failures",
    "crowded": "predicted ones on the front, between those above",
}
"""Keys of `left_out` since they were first published; programs may look them up. So they may quantities."""
PUBLISHED_NAMES = {"duration_seconds": "time", "cpu_utilisation": "CPU busy", "gpu_utilisation": "GPU busy"}
KINDS: dict[str, Emphasis] = {
    "measured, dominated": "dim",
    "predicted, dominated": "dim",
    "measured, on the front": "",
    "predicted, on the front": "warning",
}
LEFT_OUT = {**PUBLISHED, "risky": "configurations with more than 20% failures"}
"""The same in words."""


def document(front: Front) -> Document:
    axes = ", ".join(f"{names.heading(q)} (more is better)" if front.maximised(q) else names.heading(q) for q in front.quantities)
    measured, predicted = front.points_of_kind(measured=True), front.points_of_kind(measured=False)
    others = [point for point in measured if not (point.on_front or point.marked)]
    shown = [point for point in measured if point.on_front or point.marked or point in others[:MOST_DOMINATED]]
    parameters = differing([*shown, *predicted])
    more = f"and {len(others[MOST_DOMINATED:])} more that are dominated" if others[MOST_DOMINATED:] else ""
    forecasts = points_table(predicted, parameters, front) if any(point.values for point in predicted) else ""
    title = ("Workload ", Span(str(front.workload)), f": trade-off of {axes}")
    tables = (
        Section("Measured: medians of the runs that ended well", (points_table(shown, parameters, front), more)),
        Section("Predicted, not measured: with 90% intervals", (forecasts,)),
    )
    blocks: tuple[Block, ...] = (*tables, *reference_sentences(front), *sentences(front, parameters), *front.evidence.notes)
    return Document(title, blocks, currency=front.currency)


def differing(points: Sequence[Point]) -> list[str]:
    parameters = points[0].parameters if points else ()
    return [name for name in parameters if len({point.parameters[name] for point in points}) > 1]


def points_table(points: Sequence[Point], parameters: Sequence[str], front: Front) -> Table:
    """One row for each point: what is set, what came or is expected of it, whether it is on the front."""
    set_by = [Column(names.short(name), "figure", name) for name in parameters]
    objectives = map(headline.column, front.quantities)
    chances = any(point.failure for point in points)
    rows: list[Row] = []
    for point in points:
        values = (value(point, quantity) for quantity in front.quantities)
        on_front = Cell(place(point, front), emphasis="good" if point.on_expected_front else "")
        failing = headline.chance(point.failure) if chances else ""
        said = (*values, on_front, remarks(point, front.currency), point.runs or "", failing)
        rows.append((*(point.parameters[name] for name in parameters), *said))
    columns = (*set_by, *objectives, Column("front"), Column("", "prose"), Column("runs", "figure"), Column("fails", "figure"))
    return Table(columns, tuple(rows), "measured" if any(point.runs for point in points) else "predicted")


def value(point: Point, quantity: str) -> Cell:
    """A measured value, or an expected one with its interval."""
    interval = point.bounds.get(quantity)
    if interval is None or quantity not in point.values:
        return Cell(point.values.get(quantity))
    return Cell(point.values[quantity], low=interval.low, high=interval.high)


def place(point: Point, front: Front) -> str:
    """Whether a point is on the front, in words; empty where a value is unknown."""
    if not whole(point, front):
        return ""
    return "yes" if point.on_expected_front or (point.runs and point.on_front) else "no"


def whole(point: Point, front: Front) -> bool:
    """Whether every objective is known of it."""
    return set(front.quantities) <= set(point.values)


def remarks(point: Point, currency: Currency = USD) -> Inline:
    """Marks, what it trades of time and money, and what speaks against it."""
    against = [f"breaks {', '.join(point.breaks)}"] if point.breaks else []
    if point.runs and point.on_front and not point.on_expected_front:
        against.append("a prediction beats it")
    if point.failure and point.failure.probability >= RISKY:
        against.append(f"fails with {point.failure}")
    wanted = f"prefer {', '.join(point.preferred)}" if point.preferred else ""
    trade = point.trade.verdict(currency) if point.trade else ""
    marks = "; ".join(filter(None, (", ".join(point.marks), wanted, trade)))
    return Span(marks), "; " if marks and against else "", Span("; ".join(against), "warning")


def reference_sentences(front: Front) -> list[str]:
    volumes = front.volumes
    if volumes is None:
        return []
    point = ", ".join(
        f"{names.heading(quantity)} {numbers.written(quantity, limit, front.currency)}"
        for quantity, limit in volumes.reference.items()
    )
    measured = f"Hypervolume of the measured front up to it: {measured_volume(front, volumes)} (more is better)."
    if volumes.expected <= volumes.measured:
        return [f"Reference point: {point}.", measured]
    more, least = gain(volumes.expected, volumes.measured), gain(volumes.unlucky, volumes.measured)
    warning = "predictions are optimistic: the best of many rarely comes true"
    predicted = f"Predicted points would add {more}, and at the worse ends of their intervals {least}; {warning}."
    return [f"Reference point: {point}.", measured, predicted]


def sentences(front: Front, parameters: Sequence[str]) -> list[str]:
    """What is the same everywhere, what would be suggested, and what is not shown."""
    lines = []
    stays = {name: value for name, value in front.today.items() if name not in parameters}
    same = [f"{names.short(name)} {numbers.written(name, value)}" for name, value in stays.items()]
    if same and any(point.values for point in front.points):
        lines.append(f"The same in all: {', '.join(same)}.")
    if front.suggested is None:
        lines.append(f"`jpo suggest` would find nothing: {front.because.text}.")
    else:
        lines.append(f"`jpo suggest` would choose: {difference(front.suggested, front.today)}; {front.because.text}.")
        chosen = [point for point in front.points if "suggested" in point.marks and whole(point, front)]
        if any(not point.on_expected_front for point in chosen):
            why = "a suggestion also weighs what has no axis here, and how sure a forecast is"
            lines.append(f"It is dominated by this front: {why}.")
    if front.left_out:
        reasons = (
            f"{LEFT_OUT[left.why].format(' and '.join(map(names.heading, left.lacking)))} ({count})"
            for left, count in front.left_out.items()
        )
        lines.append(f"Not shown: {'; '.join(reasons)}.")
    return lines


def charts(front: Front) -> list[Plot]:
    """The first objective against each of the others."""
    return [_chart(front, front.quantities[0], other) for other in front.quantities[1:]]


def _chart(front: Front, x: str, y: str) -> Plot:
    """Facts, predictions with their intervals, today's and the suggested values; the fronts where they are lines."""
    known = [point for point in front.points if {x, y} <= set(point.values)]
    kinds: dict[str, list[Point]] = {kind: [] for kind in KINDS}
    for point in known:
        on_front = point.on_front if point.runs else point.on_expected_front  # facts are held against facts
        kinds[f"{'measured' if point.runs else 'predicted'}, {'on the front' if on_front else 'dominated'}"].append(point)
    expected = [point for point in known if point.on_expected_front]
    lines: list[tuple[Emphasis, list[Point]]] = [("", kinds["measured, on the front"])]
    if any(not point.runs for point in expected):
        lines.append(("warning", expected))
    if len(front.objectives) > 2 or front.maximised(x) or front.maximised(y):
        lines = []  # the front is no line

    def places(some: Sequence[Point]) -> tuple[tuple[float, float], ...]:
        return tuple((point.values[x], point.values[y]) for point in some)

    def reach(point: Point) -> tuple[float, float, float, float]:
        return point.bounds[x].low, point.bounds[x].high, point.bounds[y].low, point.bounds[y].high

    def text(point: Point, kind: str) -> str:
        told = (point.marked or "front" in kind) and "today" not in point.marks
        return difference(point.parameters, front.today) if told else ""

    rings = ((name, places([one for one in known if name in one.marks])) for name in ("today", "suggested"))
    marks = (
        *(Marks(name, at, "strong" if name == "today" else "warning", hollow=True) for name, at in rings),
        *(Marks("", places(some), emphasis, joined="steps") for emphasis, some in lines),
        *(
            Marks(
                *(kind, places(kinds[kind]), emphasis, kind == "predicted, dominated"),
                reach=tuple(map(reach, kinds[kind])) if kind.startswith("predicted") else (),
                texts=tuple(text(one, kind) for one in kinds[kind]),
            )
            for kind, emphasis in KINDS.items()
        ),
    )
    x_label, y_label = (f"{names.heading(name)}{' (more is better)' if front.maximised(name) else ''}" for name in (x, y))
    said = "Measured runs, and predictions with 90% intervals; next to a point what differs from today."
    return Plot(f"{names.heading(y)} by {names.heading(x)}", said, x, y, marks, x_label, y_label)


def as_json(front: Front) -> dict[str, object]:
    """The published document, see docs/weighing.md; amounts in USD, None is what is not known."""
    return {
        "schema_version": 1,
        "workload": front.workload.labels,
        "objectives": [
            {"name": name, "quantity": quantity, "better": "higher" if front.maximised(quantity) else "lower"}
            for name, quantity in front.objectives.items()
        ],
        "points": [_point(point, front) for point in front.points],
        "today": dict(front.today),
        "suggested": None if front.suggested is None else dict(front.suggested),
        "because": front.because.text,
        "preferences": {name: dict(values) for name, values in front.preferences.items()},
        "hypervolume": None if front.volumes is None else asdict(front.volumes),
        "left_out": {published(left): count for left, count in front.left_out.items()},
        "notes": list(texts_of(front.evidence.notes)),
        "reason_codes": list(dict.fromkeys(front.evidence.codes)),
    }


def _point(point: Point, front: Front) -> dict[str, object]:
    return {
        "kind": "measured" if point.runs else "predicted",
        "parameters": dict(point.parameters),
        "runs": point.runs,
        "values": {quantity: point.values.get(quantity) for quantity in front.quantities},
        "intervals": {quantity: asdict(interval) for quantity, interval in point.bounds.items()} or None,
        "on_front": point.on_front,
        "on_expected_front": point.on_expected_front,
        "p_fail": point.failure.probability if point.failure else None,
        "p_fail_basis": point.failure.basis if point.failure else None,
        "breaks_sla": list(point.breaks),
        "trade_off": asdict(point.trade) if point.trade else None,
        "marks": [*point.marks, *(f"prefer {name}" for name in point.preferred)],
    }


def published(left: Unshown) -> str:
    """The key of a reason why something was left out."""
    return PUBLISHED[left.why].format(" and ".join(PUBLISHED_NAMES.get(name) or names.heading(name) for name in left.lacking))
