"""Suggestions for several config.ini: two lines for each, and how many there are of which kind; programs get each as if alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from jpo.errors import JpoError
from jpo.report import headline, suggestion
from jpo.report.answer import Report
from jpo.report.document import Document, Section, Span
from jpo.wording.numbers import counted


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A config.ini that has no answer, and why; it is untouched."""

    path: Path
    error: JpoError


Answer: TypeAlias = "Report | Unanswered"


def document(answers: Sequence[Answer]) -> Document:
    """In the order in which the files were named."""
    kinds = Counter("failed" if isinstance(one, Unanswered) else one.suggestion.decision.kind for one in answers)
    found = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    return Document("", tuple(map(_section, answers)), f"{counted(len(answers), 'file')}: {found}")


def _section(one: Answer) -> Section:
    if isinstance(one, Unanswered):
        return Section((Span("FAILED:", "bad"), f" {one.error.in_short}"), (f"{one.path}: kept as it is",))
    notes = len(suggestion.notes(one.suggestion))
    more = f"; {counted(notes, 'note')}: jpo explain {one.suggestion.suggestion_id}" if notes else ""
    return Section(headline.headline(one.suggestion), (f"{suggestion.verdict(one)}{more}",))


def as_json(answers: Sequence[Answer]) -> dict[str, object]:
    """`{"schema_version", "jobs": [...]}`: the document of one suggestion each, or `config`, `failure` and `code`."""
    return {"schema_version": suggestion.SCHEMA_VERSION, "jobs": [_job(one) for one in answers]}


def _job(one: Answer) -> dict[str, object]:
    if isinstance(one, Unanswered):
        return {"config": str(one.path), "failure": str(one.error), "code": one.error.code}
    return suggestion.as_json(one)
