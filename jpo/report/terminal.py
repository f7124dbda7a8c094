"""A report for a terminal: what changes and why, what is expected, what it rests on."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jpo.records import PARAMETERS, Forecast, SlaCheck, Suggestion
from jpo.report import numbers
from jpo.report.printable import printable
from jpo.report.report import Report

FORECASTS = {
    "duration_seconds": ("duration", "time_max"),
    "cost_usd": ("cost", "cost_max"),
    "val_loss": ("val loss", "val_loss_max"),
}
"""Forecast -> its name for people and the promise it is held against."""
LABELS = {quantity: label for quantity, (label, _) in FORECASTS.items()}
DECIDERS = {
    "sac": "the SAC agent",
    "belief": "the belief rule",
    "user": "you",
    "waiting": "the last suggestion, which is untried",
    "no evidence": "the lack of evidence",
}
COLOURS = {"ok": "green", "at risk": "yellow", "broken": "red", "unknown": "dim"}


def render(report: Report, *, width: int = 120, colour: bool = False) -> str:
    """The report as lines of text, `width` columns wide."""
    console = Console(
        file=StringIO(),
        width=width,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        markup=False,  # names are shown as they are
        emoji=False,
        legacy_windows=False,
    )
    console.print(Group(*_parts(report)))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _parts(report: Report) -> list[RenderableType]:
    suggestion = report.suggestion
    parts: list[RenderableType] = [headline(suggestion), "", Padding(changes(suggestion), (0, 0, 0, 2)), ""]
    parts += [Padding(Text(f"because {reason}"), (0, 0, 0, 2)) for reason in suggestion.reasons]
    parts += ["", Padding(forecasts(suggestion), (0, 0, 0, 2))]
    if report.track:
        parts += [Padding(Text(track(report)), (0, 0, 0, 2))]
    parts += [
        Text(printable(f"Note: {note}"), style="yellow") for note in (*suggestion.evidence.notes, *suggestion.guard.notices)
    ]
    if report.diff:
        parts += ["", Text(report.diff.rstrip("\n"))]
    return [*parts, "", Text(verdict(report), style="bold")]


def headline(suggestion: Suggestion) -> Text:
    """Which workload, and how much evidence there is."""
    evidence = suggestion.evidence
    runs = f"{evidence.runs_used} finished run{'' if evidence.runs_used == 1 else 's'} used"
    if evidence.runs_skipped:
        reasons = "; ".join(sorted({one.reason for one in evidence.runs_skipped}))
        runs += f", {len(evidence.runs_skipped)} skipped ({printable(reasons)})"
    server = f"   Prometheus {numbers.duration(evidence.seconds)}" if evidence.requests else ""
    return Text.assemble(("Workload ", ""), (str(suggestion.identity), "bold"), f"   {runs}{server}")


def changes(suggestion: Suggestion) -> Table:
    """Every parameter with its value now and next."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("key", "now", "", "next", "why", "confidence"):
        table.add_column(name, overflow="fold")
    changed = {change.parameter: change for change in suggestion.changes}
    for name, value in sorted(suggestion.current.items(), key=lambda pair: PARAMETERS.index(pair[0])):
        change = changed.get(name)
        if change:
            capped = f"; capped by {change.capped_by}" if change.capped_by else ""
            sure = numbers.confidence(change.confidence)
            table.add_row(
                change.key, change.old_text, "→", Text(change.new_text, style="bold green"), change.reason + capped, sure
            )
        else:
            unit = " GiB" if name == "memory_gib" else ""
            now, then = numbers.plain(value) + unit, numbers.plain(suggestion.suggested[name]) + unit
            table.add_row(suggestion.keys[name], now, "", then, "", "")
    return table


def forecasts(suggestion: Suggestion) -> Table:
    """What is expected today and next, and what was promised."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("forecast", "now", "next (90 % interval)", "SLA", ""):
        table.add_column(name, overflow="fold")
    checks = {check.name: check for check in suggestion.sla}
    for field, (label, promise) in FORECASTS.items():
        now, then = _interval(suggestion.now, field, bounds=False), _interval(suggestion.next, field, bounds=True)
        table.add_row(label, now, then, *_promise(checks.pop(promise, None)))
    for check in checks.values():
        table.add_row(check.name, "", "", *_promise(check))
    return table


def _interval(forecast: Forecast, field: str, *, bounds: bool) -> str:
    return numbers.expected(field, getattr(forecast, field), bounds=bounds)


def _promise(check: SlaCheck | None) -> tuple[str, Text]:
    if check is None:
        return "", Text("")
    sign = "≥" if "_min" in check.name else "≤"
    return f"{sign} {numbers.FORMATS.get(check.name, numbers.plain)(check.limit)}", Text(
        check.verdict, style=COLOURS[check.verdict]
    )


def track(report: Report) -> str:
    """How the last forecasts turned out, one sentence."""
    told = [
        f"{LABELS[past.quantity]} off by {numbers.percent(past.median_error)} (median), "
        f"{past.inside} of {past.forecasts} inside the interval"
        for past in report.track
        if past.quantity in FORECASTS
    ]
    return f"Last {max(past.forecasts for past in report.track)} forecasts: {'; '.join(told)}."


def verdict(report: Report) -> str:
    """What became of it, in one line."""
    suggestion, count = report.suggestion, len(report.suggestion.changes)
    if suggestion.status == "kept":
        done = "kept as it is"
    else:
        done = f"{count} value{'' if count == 1 else 's'} {'written' if report.written else 'not written'}"
    sure = "" if suggestion.confidence is None else f", confidence {numbers.confidence(suggestion.confidence)}"
    return f"{report.path}: {done}; decided by {DECIDERS[suggestion.decided_by]}{sure}. Suggestion {suggestion.suggestion_id}"
