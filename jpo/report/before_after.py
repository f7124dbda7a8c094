"""Before and after JPO, workload by workload: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jpo.records import Currency, Identity, Interval
from jpo.report.page import blank_page, text_of
from jpo.report.spreadsheet import csv_line
from jpo.wording import numbers
from jpo.wording.printable import printable

LABELS = {
    "duration_seconds": "duration",
    "cost_usd": "cost",
    "gpu_utilisation": "GPU utilisation",
    "cpu_utilisation": "CPU utilisation",
    "memory_gib": "memory, GiB",
    "throughput_samples_per_second": "samples/s",
    "val_loss": "val loss",
    "train_loss": "train loss",
    "failed": "runs that failed",
}
SHARES = frozenset({"failed"})
"""Quantities that are shares of runs."""
COLOURS = {"better": "green", "worse": "red", "no clear change": "dim", "too few": "dim"}
HEAD = (
    *("dataset", "model", "framework", "since", "quantity", "before", "after", "runs_before", "runs_after"),
    *("change", "low", "high", "kind", "word"),
)


class Line(Protocol):
    """One quantity before and after, see forecast/before_after.py."""

    @property
    def quantity(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def before(self) -> float | None: ...
    @property
    def after(self) -> float | None: ...
    @property
    def runs_before(self) -> int: ...
    @property
    def runs_after(self) -> int: ...
    @property
    def change(self) -> Interval | None: ...
    @property
    def word(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """A workload before JPO's first change and after.

    Attributes:
        first_change, last_change: when they were written, unix seconds; None: JPO changed nothing yet.
        before, after: runs on each side; `left_out`: later runs that followed no suggestion.
        lines: all runs after against those before; empty before the first change.
        since_last: only those since the last change against those before; empty where it is the first.
    """

    identity: Identity
    first_change: float | None
    last_change: float | None
    before: int
    after: int
    left_out: int
    lines: Sequence[Line]
    since_last: Sequence[Line]


def as_tables(found: Sequence[Comparison], currency: Currency, *, width: int, colour: bool) -> str:
    """A table per workload."""
    console = blank_page(width, colour=colour)
    for one in found:
        console.print(Text(f"Workload {printable(str(one.identity))}", style="bold"), Text(printable(heading(one))), sep="\n")
        if one.lines:
            console.print("", Padding(_table(one, currency), (0, 0, 0, 2)), sep="\n")
        console.print()
    if not found:
        console.print("nothing on record yet; start with `jpo suggest config.ini`")
    return text_of(console)


def heading(one: Comparison) -> str:
    """What is compared."""
    if one.first_change is None or one.last_change is None:
        return f"no change by JPO is on record yet: {_runs(one.before)}, nothing to compare"
    last = f", last on {numbers.moment(one.last_change)}" if one.last_change != one.first_change else ""
    left = f"; left out, since they followed no suggestion: {one.left_out}" if one.left_out else ""
    counted = f"{_runs(one.before)} before, {_runs(one.after)} after it{left}"
    return f"first changed on {numbers.moment(one.first_change)}{last} (UTC): {counted}"


def _runs(number: int) -> str:
    return f"{number} run{'' if number == 1 else 's'}"


def _table(one: Comparison, currency: Currency) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    head = ("geometric mean of", "before", "after", "change (90% interval)", "")
    for name in (*head, *(("since the last change", "") if one.since_last else ())):
        table.add_column(name, overflow="fold")
    newest = {line.quantity: line for line in one.since_last}
    for line in one.lines:
        since = newest.get(line.quantity)
        more = (change(since), _word(since)) if since else ()
        before, after = (value(line.quantity, number, currency) for number in (line.before, line.after))
        table.add_row(label(line), before, after, change(line), _word(line), *more)
    return table


def label(line: Line) -> str:
    """The quantity's name, and what its mean is where it is not the geometric one."""
    return LABELS[line.quantity] + (" (arithmetic)" if line.kind == "difference" and line.quantity not in SHARES else "")


def _word(line: Line) -> Text:
    return Text(line.word, style=COLOURS[line.word])


def value(quantity: str, number: float | None, currency: Currency) -> str:
    """A mean with its unit; a share of runs in percent."""
    if number is None:
        return numbers.UNKNOWN
    return numbers.percent(number) if quantity in SHARES else numbers.written(quantity, number, currency)


def change(line: Line) -> str:
    """-38% (-50 to -22); of a share in points, of another difference in the quantity's unit. Empty without an interval."""
    if line.change is None:
        return ""
    ends = line.change.mean, line.change.low, line.change.high
    if line.kind == "difference" and line.quantity not in SHARES:
        mean, low, high = (f"{end:+.3g}" for end in ends)
        return f"{mean} ({low} to {high})"
    unit, base = (" points", 0.0) if line.quantity in SHARES else (" %", 1.0)
    mean, low, high = (hundredths(end - base) for end in ends)
    return f"{mean}{unit} ({low} to {high})"


def hundredths(share: float) -> str:
    """-38, +5 or 0."""
    return f"{100 * share:+.0f}" if round(100 * share) else "0"


def as_json(found: Sequence[Comparison]) -> str:
    """`{"schema_version", "workloads": [{..., "since_first_change": [...], "since_last_change": [...]}]}`; amounts in USD."""
    workloads = [
        {
            "workload": asdict(one.identity),
            **{name: getattr(one, name) for name in ("first_change", "last_change", "before", "after", "left_out")},
            "since_first_change": [_document(line) for line in one.lines],
            "since_last_change": [_document(line) for line in one.since_last],
        }
        for one in found
    ]
    return json.dumps({"schema_version": 1, "workloads": workloads}, indent=2, ensure_ascii=False) + "\n"


def _document(line: Line) -> dict[str, Any]:
    told = {name: getattr(line, name) for name in ("quantity", "kind", "before", "after", "runs_before", "runs_after", "word")}
    return {**told, "change": asdict(line.change) if line.change else None}


def as_csv(found: Sequence[Comparison]) -> str:
    """One row per workload, side and quantity; empty cells where nothing is known."""
    rows = [csv_line(HEAD)]
    for one in found:
        for since, lines in (("first change", one.lines), ("last change", one.since_last)):
            rows += [
                csv_line(
                    [
                        *(one.identity.dataset, one.identity.model, one.identity.framework, since),
                        *(line.quantity, line.before, line.after, line.runs_before, line.runs_after),
                        *((line.change.mean, line.change.low, line.change.high) if line.change else (None, None, None)),
                        *(line.kind, line.word),
                    ]
                )
                for line in lines
            ]
    return "".join(rows)
