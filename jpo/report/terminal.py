"""A report for a terminal: what changes and why, what is expected, what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from jpo.records import PARAMETERS, USD, Change, Currency, Interval, SlaCheck, Suggestion, TrackRecord, same
from jpo.report.page import blank_page, text_of
from jpo.report.report import Report
from jpo.wording import numbers
from jpo.wording.printable import printable

FORECASTS = {
    "duration_seconds": ("duration", "time_max"),
    "cost_usd": ("cost", "cost_max"),
    "val_loss": ("val loss", "val_loss_max"),
    "throughput_samples_per_second": ("samples/s", "throughput_min"),
    "memory_gib": ("memory, GiB", "memory_max_gib"),
    "gpu_utilisation": ("GPU utilisation", "gpu_util_min"),
    "cpu_utilisation": ("CPU utilisation", "cpu_util_min"),
}
"""Forecast -> its name for people and the promise it is held against."""
ALWAYS = ("duration_seconds", "cost_usd", "val_loss")
"""What every report shows, known or not; the others where they were promised, or change by NOTABLE or more."""
NOTABLE = 0.1
LABELS = {quantity: label for quantity, (label, _) in FORECASTS.items()}
DECIDERS = {
    "sac": "the SAC agent",
    "belief": "the belief rule",
    "user": "you",
    "rollback": "a rollback",
    "waiting": "the last suggestion, which is untried",
    "no evidence": "the lack of evidence",
}
NONE: Mapping[str, Interval] = {}
COLOURS = {"ok": "green", "at risk": "yellow", "broken": "red", "unknown": "dim"}


def render(report: Report, *, width: int = 120, colour: bool = False) -> str:
    """The report as lines of text, `width` columns wide."""
    console = blank_page(width, colour=colour)
    console.print(Group(*_parts(report)))
    return text_of(console)


def _parts(report: Report) -> list[RenderableType]:
    suggestion = report.suggestion
    parts: list[RenderableType] = [headline(suggestion), "", Padding(changes(suggestion), (0, 0, 0, 2)), ""]
    parts += [Padding(Text(f"because {reason}"), (0, 0, 0, 2)) for reason in suggestion.reasons]
    parts += ["", Padding(forecasts(suggestion, report.currency), (0, 0, 0, 2))]
    if track(report):
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
            sure = numbers.confidence(change.confidence)
            table.add_row(change.key, change.old_text, "→", Text(change.new_text, style="bold green"), why(change), sure)
        else:
            unit = " GiB" if name == "memory_gib" else ""
            now, then = numbers.plain(value) + unit, numbers.plain(suggestion.suggested[name]) + unit
            table.add_row(suggestion.keys[name], now, "", then, why_unchanged(name, suggestion), "")
    return table


def why(change: Change) -> str:
    """What the runs say about a value, and what held it back."""
    return change.reason + (f"; capped by {change.capped_by}" if change.capped_by else "")


def why_unchanged(name: str, suggestion: Suggestion) -> str:
    """What another value of this parameter alone would have meant, where an alternative says so: "4 costs 38% more ..."."""
    for other in suggestion.alternatives:
        differs = [one for one, value in other.parameters.items() if not same({one: value}, suggestion.suggested)]
        if differs == [name]:
            return f"{numbers.plain(other.parameters[name])} {other.why_not}"
    return ""


def forecasts(suggestion: Suggestion, currency: Currency = USD) -> Table:
    """What is expected today and next, and what was promised."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("forecast", "now", "next (90% interval)", "SLA", ""):
        table.add_column(name, overflow="fold")
    checks = {check.name: check for check in suggestion.sla}
    for field in shown(suggestion):
        label, promise = FORECASTS[field]
        now, then = (
            numbers.expected(field, getattr(forecast, field), bounds=bounds, currency=currency)
            for forecast, bounds in ((suggestion.now, False), (suggestion.next, True))
        )
        table.add_row(label, now, then, *_promise(checks.pop(promise, None), currency))
    for check in checks.values():
        table.add_row(check.name, "", "", *_promise(check, currency))
    return table


def shown(suggestion: Suggestion) -> list[str]:
    """The quantities worth a row."""
    promised = {check.name for check in suggestion.sla}
    return [
        field
        for field, (_, promise) in FORECASTS.items()
        if field in ALWAYS or (getattr(suggestion.next, field) and (promise in promised or _differs(suggestion, field)))
    ]


def _differs(suggestion: Suggestion, field: str) -> bool:
    now, then = getattr(suggestion.now, field), getattr(suggestion.next, field)
    return bool(now and then and abs(then.mean - now.mean) >= NOTABLE * abs(now.mean))


def _promise(check: SlaCheck | None, currency: Currency) -> tuple[str, Text]:
    if check is None:
        return "", Text("")
    sign = "≥" if "_min" in check.name else "≤"
    limit = numbers.written(check.name, check.limit, currency)
    return f"{sign} {limit}", Text(check.verdict, style=COLOURS[check.verdict])


def track(report: Report) -> str:
    """How the last forecasts turned out, one sentence; empty before the first one could be compared."""
    return ledger(report.track)


def ledger(track: Sequence[TrackRecord], coverage: Mapping[str, Interval] = NONE) -> str:
    """The same of any track record; with the interval of the share inside, by quantity, where it is given."""
    known = [past for past in track if past.quantity in ALWAYS]
    told = []
    for past in known:
        true = coverage.get(past.quantity)
        lies = f" ({round(100 * true.low)} to {round(100 * true.high)}% in the long run)" if true else ""
        off = f"{LABELS[past.quantity]} off by {numbers.percent(past.median_error)} (median)"
        told.append(f"{off}, {past.inside} of {past.forecasts} inside the interval{lies}")
    many = max((past.forecasts for past in known), default=0)
    return f"Last {f'{many} forecasts' if many > 1 else 'forecast'}: {'; '.join(told)}." if told else ""


def verdict(report: Report) -> str:
    """What became of it, in one line."""
    suggestion, count = report.suggestion, len(report.suggestion.changes)
    if suggestion.status == "kept":
        done = "kept as it is"
    else:
        done = f"{count} value{'' if count == 1 else 's'} {'written' if report.written else 'not written'}"
    sure = "" if suggestion.confidence is None else f", confidence {numbers.confidence(suggestion.confidence)}"
    return f"{report.path}: {done}; decided by {DECIDERS[suggestion.decided_by]}{sure}. Suggestion {suggestion.suggestion_id}"
