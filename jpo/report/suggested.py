"""Suggestions for several config.ini: two lines for each, and how many of which kind; programs get each as if it were alone."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from jpo.errors import JpoError
from jpo.report import headline, suggestion
from jpo.report.answer import Report
from jpo.report.document import Document, Section, Span
from jpo.wording.numbers import counted

Unanswered = tuple[Path, JpoError]
"""A config.ini without an answer, and why."""


def document(answers: Sequence[Report | Unanswered]) -> Document:
    """In the order in which the files were named."""
    kinds = Counter(one.suggestion.decision.kind if isinstance(one, Report) else "failed" for one in answers)
    found = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    return Document("", tuple(map(_section, answers)), f"{counted(len(answers), 'file')}: {found}")


def _section(one: Report | Unanswered) -> Section:
    if not isinstance(one, Report):
        return Section((Span("FAILED:", "bad"), f" {one[1].in_short}"), (f"{one[0]}: kept as it is",))
    notes = len(suggestion.notes(one.suggestion))
    more = f"; {counted(notes, 'note')}: jpo explain {one.suggestion.suggestion_id}" if notes else ""
    return Section(headline.headline(one.suggestion), (f"{suggestion.verdict(one)}{more}",))


def as_json(answers: Sequence[Report | Unanswered]) -> dict[str, object]:
    """`{"schema_version", "jobs": [...]}`: the document of one suggestion each, or `config`, `failure` and `code`."""
    jobs = [
        suggestion.as_json(one)
        if isinstance(one, Report)
        else {"config": str(one[0]), "failure": str(one[1]), "code": one[1].code}
        for one in answers
    ]
    return {"schema_version": suggestion.SCHEMA_VERSION, "jobs": jobs}
