"""A suggestion as a note on a merge request: in ten lines what it is, what is expected of it, how likely, what changes and why.

Markdown alone. Every line begins with words of ours, so that none is a command to whoever reads notes (/close, !test, bors).
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from jpo.history.canonical import canonical
from jpo.records import RISK, Suggestion, TrackRecord, texts_of, uncoded
from jpo.report import headline, suggestion
from jpo.report.answer import Report
from jpo.report.document import Block, Cell, Column, Document, Items, Span, Table
from jpo.report.forms import markdown
from jpo.wording import numbers
from jpo.wording.printable import printable

LONGEST = 300
"""Characters of one text: a note is read at a glance, and GitHub takes 65,536 of all."""
MOST_CHANGES, MOST_LINES = 20, 5
"""Rows of values, and sentences or notes of a kind; the report has all."""
ELSEWHERE = "jpo explain"


@dataclass(frozen=True, slots=True)
class Comment:
    """A note about a suggestion.

    `link`: address of the report, as the pipeline that made it; None where nobody knows one. `file`: config.ini within the
    project: a workload may have several.
    """

    report: Report
    link: str | None = None
    file: str = "config.ini"


def marker(comment: Comment) -> str:
    """What tells the note of this workload from all others: the first line, which nobody sees. No name is part of it."""
    return f"<!-- jpo:suggestion:{digest(comment.report.suggestion, comment.file)[:32]} -->"


def digest(suggestion: Suggestion, file: str) -> str:
    """What tells this workload and config.ini from all others, in hexadecimal digits."""
    return hashlib.sha256(canonical({"workload": suggestion.identity.labels, "file": file}).encode()).hexdigest()


def body(comment: Comment) -> str:
    """The note as it is posted."""
    link = f"\n{markdown.link('Report and log', comment.link)}\n" if comment.link else ""
    return f"{marker(comment)}\n\n{markdown.render(document(comment))}{link}"


def says_something(decided: Suggestion) -> bool:
    """Whether a merge request without a note needs one: values change, are refused, or something is to be warned of."""
    warned = any(note.code.startswith(("JPO-W", "JPO-E")) for note in suggestion.notes(decided))
    return decided.status != "kept" or warned or bool(decided.guard.violations)


def document(comment: Comment) -> Document:
    """What is seen of the note."""
    report = comment.report
    decided = report.suggestion
    more = len(decided.changes[MOST_CHANGES:])
    kind, text = headline.headline(decided)
    blocks: tuple[Block, ...] = (
        (kind, short(text)),
        suggestion.forecasts(decided),
        changes(decided),
        f"and {numbers.counted(more, 'more value')}: {ELSEWHERE}" if more else "",
        Items(tuple(reasons(decided, report.track))),
        *uncoded(shortened(texts_of(suggestion.notes(decided)))),
    )
    return Document(("JPO: ", Span(short(str(decided.identity)))), blocks, verdict(report), report.currency)


def verdict(report: Report) -> str:
    """What became of it, in one line."""
    decided = report.suggestion
    if decided.status == "kept":
        done = "values kept as they are"
    else:
        done = f"{numbers.counted(len(decided.changes), 'value')} {'written' if report.written else 'proposed, not written'}"
    return f"{short(str(report.path))}: {done}. Suggestion {short(decided.suggestion_id)}"


def changes(decided: Suggestion) -> Table:
    """Old and new value of what changes, as the file says them."""
    rows = tuple(
        (
            short(change.key),
            short(numbers.as_in_reports(change.old_text)),
            Cell(short(numbers.as_in_reports(change.new_text)), emphasis="strong"),
            short(suggestion.held_back(change)),
        )
        for change in decided.changes[:MOST_CHANGES]
    )
    return Table((Column("value", "key"), Column("old"), Column("new"), Column("why", "prose")), rows, "changes")


def reasons(decided: Suggestion, track: tuple[TrackRecord, ...]) -> Iterator[str]:
    """Why, the chance of harm, and how right the last forecasts were."""
    first = suggestion.first_reasons(decided)
    yield from (f"why: {reason}" for reason in shortened(texts_of(first)))
    risks = [reason.text for reason in decided.having(RISK) if reason not in first]
    yield from (f"risk: {reason}" for reason in shortened(risks))
    if said := headline.track_record(track):
        yield f"track record: {said[0].lower()}{said[1:]}"


def shortened(texts: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """The first of them, none longer than a glance."""
    more = len(texts[MOST_LINES:])
    return (*map(short, texts[:MOST_LINES]), *([f"and {more} more: {ELSEWHERE}"] if more else []))


def short(text: str) -> str:
    """A text in one line; of a long one the beginning and the end."""
    return printable(text, longest=LONGEST)
