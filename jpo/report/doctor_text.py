"""What `jpo doctor` found, for people: what each line is about, what was found, and below it what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rich.table import Table
from rich.text import Text

from jpo.report.page import blank_page, text_of
from jpo.wording.printable import printable

COLOURS = {"problem": "bold red", "warning": "yellow", "unknown": "dim", "ok": "green"}
PLURAL = {"problem": "problems", "warning": "warnings"}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at.

    Attributes:
        name: what was looked at; a stable word.
        finding: what was found, without secrets.
        next_step: what to do; empty when there is nothing.
        code: stable reason code, or None.
        exit_code: of a command that meets this problem; 0 for everything else.
        topic: the part of JPO's surroundings to which it belongs.
    """

    name: str
    status: Literal["ok", "warning", "problem", "unknown"]
    finding: str
    next_step: str = ""
    code: str | None = None
    exit_code: int = 0
    topic: str = ""


def render(lines: Sequence[Line], *, width: int, colour: bool) -> str:
    """A block per topic and a line that sums up, `width` columns wide."""
    console = blank_page(width, colour=colour)
    room = max(len(line.name) for line in lines)
    for topic, those in groupby(lines, key=lambda line: line.topic):
        console.print(Text(topic, style="bold"), table(list(those), room), "", sep="\n")
    console.print(Text(summary(lines), style="bold"))
    return text_of(console)


def table(lines: Sequence[Line], room: int) -> Table:
    """Status, name and finding; below a finding its next step and code."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=9)
    grid.add_column(width=room)
    grid.add_column(overflow="fold", ratio=1)
    for line in lines:
        status = Text(f"  {line.status}", style=COLOURS[line.status])
        grid.add_row(status, Text(line.name), Text(printable(line.finding)))
        step = f"→ {printable(line.next_step)}" if line.next_step else ""
        below = f"{step} [{line.code}]".strip() if line.code else step
        if below:
            grid.add_row("", "", Text(below, style="dim" if line.status == "ok" else "cyan"))
    return grid


def summary(lines: Sequence[Line]) -> str:
    """`1 problem, 2 warnings, 3 unknown, 14 ok`."""
    counts = {status: sum(line.status == status for line in lines) for status in COLOURS}
    return ", ".join(f"{n} {status if n == 1 else PLURAL.get(status, status)}" for status, n in counts.items() if n)


def as_json(lines: Sequence[Line], about: Mapping[str, object]) -> str:
    """`{"schema_version", ..., "exit_code", "checks": [{topic, name, status, finding, next_step, code}]}`."""
    fields = ("topic", "name", "status", "finding", "next_step", "code")
    checks = [{field: getattr(line, field) or None for field in fields} for line in lines]
    document = {"schema_version": 1, **about, "exit_code": exit_code(lines), "checks": checks}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def exit_code(lines: Sequence[Line]) -> int:
    """0 without a problem, else that of the first."""
    return next((line.exit_code for line in lines if line.status == "problem"), 0)
