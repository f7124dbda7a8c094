"""`jpo explain [ID]`: why this value? What a suggestion rested on, what was expected, and what came of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from jpo.errors import UsageError
from jpo.history import AuditRecord, Store
from jpo.history.audit import read_row
from jpo.layers import Loaded
from jpo.opening import store_of
from jpo.records import Run, Suggestion
from jpo.report import Report, numbers, terminal
from jpo.report.printable import printable


def explain(suggestion_id: str | None, loaded: Loaded, *, width: int, colour: bool) -> str:
    """The suggestion with this id, or the newest one, retold from the store.

    Raises:
        UsageError: JPO-E507, nothing is on record under this id, or at all.
    """
    with store_of(loaded, read_only=True) as store:
        suggestion = store.suggestion(suggestion_id) if suggestion_id else newest(store, loaded)
        runs = store.runs_following(suggestion.suggestion_id)
        events = told_of(store, suggestion.suggestion_id)
    written = any(event.kind == "written" for event in events)
    config = next((str(event.data["config"]) for event in events if "config" in event.data), "config.ini")
    told = terminal.render(Report(suggestion, Path(config), written), width=width, colour=colour)
    more = [*background(suggestion), *(outcome(run, suggestion) for run in runs)]
    return told + "\n".join(["", *map(printable, more)]) + "\n"


def newest(store: Store, loaded: Loaded) -> Suggestion:
    """The suggestion made last."""
    found = store.suggestions_of(limit=1)
    if not found:
        raise UsageError(loaded.store_place, "holds no suggestion", "run `jpo suggest config.ini` first", code="JPO-E507")
    return found[0]


def told_of(store: Store, suggestion_id: str) -> list[AuditRecord]:
    """What the audit log says of a suggestion. Of a long log few records are taken apart."""
    found = [read_row(row) for row in store.audit_rows() if suggestion_id in row.data]
    return [record for record in found if record.data.get("suggestion_id") == suggestion_id]


def background(suggestion: Suggestion) -> list[str]:
    """What else decided it."""
    wanted = suggestion.preference
    verdict = "approved" if suggestion.guard.approved else "rejected: " + "; ".join(suggestion.guard.violations)
    codes = ", ".join(suggestion.codes) or "none"
    return [
        f"  preference: {', '.join(f'{name} {weight:g}' for name, weight in asdict(wanted).items())}; seed {suggestion.seed}",
        f"  guard: {verdict}",
        f"  reason codes (docs/codes.md): {codes}",
        *(f"  skipped {one.run_id}: {one.reason}" for one in suggestion.evidence.runs_skipped),
    ]


def outcome(run: Run, suggestion: Suggestion) -> str:
    """A run that followed it, beside the forecast."""
    measured, expected = run.outcome.duration_seconds, suggestion.next.duration_seconds
    took = f", took {numbers.duration(measured)}" if measured is not None else ""
    if measured is not None and expected is not None:
        where = "inside" if expected.low <= measured <= expected.high else "outside"
        took += f" ({where} the interval {numbers.duration(expected.low)} to {numbers.duration(expected.high)})"
    return f"  followed by run {run.run_id}: {run.status.value}{took}"
