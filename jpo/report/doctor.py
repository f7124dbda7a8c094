"""Findings of `jpo doctor`, topic by topic: what each line is about, what was found, and below it what to do."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from jpo.records import Identity
from jpo.report.document import Cell, Column, Document, Emphasis, Row, Section, Table

EMPHASIS: Mapping[str, Emphasis] = {"problem": "bad", "warning": "warning", "unknown": "dim", "ok": "good"}
"""Every status, what matters most first."""
PLURAL = {"problem": "problems", "warning": "warnings"}
COLUMNS = (Column(""), Column(""), Column("", "prose"))


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at: a stable name, what was found, without secrets, and what to do, empty when there is nothing.

    `exit_code`: of a command that meets this problem; 0 for everything else. `topic`: the part of JPO's surroundings.
    """

    name: str
    status: Literal["ok", "warning", "problem", "unknown"]
    finding: str
    next_step: str = ""
    code: str | None = None
    exit_code: int = 0
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All lines, topic by topic; the version of jpo that looked, and the workload where config.ini names one."""

    lines: tuple[Line, ...]
    version: str
    identity: Identity | None

    @property
    def exit_code(self) -> int:
        """0 without a problem, else that of the first."""
        return next((line.exit_code for line in self.lines if line.status == "problem"), 0)


def document(checkup: Checkup) -> Document:
    topics = groupby(checkup.lines, key=lambda line: line.topic)
    sections = (Section(topic, (Table(COLUMNS, tuple(row for line in lines for row in rows(line))),)) for topic, lines in topics)
    return Document("Everything that JPO needs", tuple(sections), summary(checkup), bare=True)


def rows(line: Line) -> Iterator[Row]:
    """Status, name and finding; below a finding its next step and code."""
    yield Cell(line.status, emphasis=EMPHASIS[line.status]), line.name, line.finding
    step = f"→ {line.next_step}" if line.next_step else ""
    below = f"{step} [{line.code}]".strip() if line.code else step
    if below:
        yield "", "", Cell(below, emphasis="dim" if line.status == "ok" else "strong")


def summary(checkup: Checkup) -> str:
    """`1 problem, 2 warnings, 3 unknown, 14 ok`."""
    counts = {status: sum(line.status == status for line in checkup.lines) for status in EMPHASIS}
    return ", ".join(f"{n} {status if n == 1 else PLURAL.get(status, status)}" for status, n in counts.items() if n)


def as_json(checkup: Checkup) -> dict[str, object]:
    return {
        "schema_version": 1,
        "jpo": checkup.version,
        "workload": checkup.identity.labels if checkup.identity else None,
        "exit_code": checkup.exit_code,
        "checks": published(checkup.lines, "topic", "name", "status", "finding", "next_step", "code"),
    }


def published(lines: Iterable[Line], *fields: str) -> list[dict[str, object]]:
    """These fields of each line; null where one is empty."""
    return [{name: getattr(line, name) or None for name in fields} for line in lines]


def how_to_report(identity: Identity) -> str:
    """What a training script adds so that its runs are known, in a line for people."""
    named = identity.dataset == identity.model == identity.framework
    parts = {"name": str(identity)} if named else {**identity.labels}
    job = ", ".join(f'{part}="{name}"' for part, name in parts.items() if part != "hardware")
    with_log = f"`with RunLog({job}, parameters={{...}}, settings=os.environ) as log:`"
    return f"`from jpo.runlog import RunLog`, {with_log}, and `log.epoch(epoch, val_loss=...)` (docs/reporting.md)"
