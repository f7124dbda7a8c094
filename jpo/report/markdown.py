"""A report as Markdown, for a job summary or a note in a merge request. Texts from files are escaped: they are data."""

from __future__ import annotations

import re

from jpo.records import USD, Currency, Suggestion
from jpo.report import terminal
from jpo.report.report import Report
from jpo.wording import numbers
from jpo.wording.printable import printable


def render(report: Report) -> str:
    """The report as one Markdown section."""
    suggestion = report.suggestion
    lines = [f"### JPO: {escape(str(suggestion.identity))}", "", escape(terminal.verdict(report)), ""]
    lines += changes(suggestion) + [f"- {escape(reason)}" for reason in suggestion.reasons] + [""]
    lines += forecasts(suggestion, report.currency)
    if terminal.track(report):
        lines += [escape(terminal.track(report)), ""]
    lines += [f"> {escape(note)}\n" for note in (*suggestion.evidence.notes, *suggestion.guard.notices)]
    if report.diff:
        fence = "`" * (max([2, *(len(run) for run in re.findall("`+", report.diff))]) + 1)
        lines += [f"{fence}diff", report.diff.rstrip("\n"), fence, ""]
    return "\n".join(lines)


def changes(suggestion: Suggestion) -> list[str]:
    """A table of what changes; nothing when all is kept."""
    rows = [
        f"| `{code(change.key)}` | {escape(change.old_text)} | **{escape(change.new_text)}** | "
        f"{escape(terminal.why(change))} | {numbers.confidence(change.confidence)} |"
        for change in suggestion.changes
    ]
    return ["| key | now | next | why | confidence |", "|---|---|---|---|---|", *rows, ""] if rows else []


def forecasts(suggestion: Suggestion, currency: Currency = USD) -> list[str]:
    """A table of what is expected."""
    checks = {check.name: check for check in suggestion.sla}
    lines = ["| forecast | now | next (90% interval) | SLA |", "|---|---|---|---|"]
    for field in terminal.shown(suggestion):
        label, promise = terminal.FORECASTS[field]
        now, then = (
            numbers.expected(field, getattr(forecast, field), bounds=bounds, currency=currency)
            for forecast, bounds in ((suggestion.now, False), (suggestion.next, True))
        )
        lines.append(f"| {label} | {now} | {then} | {checks[promise].verdict if promise in checks else ''} |")
    return [*lines, ""]


def escape(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(printable(text).split()))


def code(text: str) -> str:
    """Text inside backticks in a table."""
    return text.replace("`", "'").replace("|", "\\|")
