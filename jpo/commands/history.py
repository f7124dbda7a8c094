"""`jpo history`: runs and suggestions on record, as a table, JSON or CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from io import StringIO
from typing import Any

from rich.console import Console
from rich.table import Table

from jpo.history import RecordedRun
from jpo.history.audit_export import moment
from jpo.layers import Loaded
from jpo.opening import store_of
from jpo.records import PARAMETERS, Identity, Suggestion
from jpo.report import numbers
from jpo.report.printable import printable
from jpo.report.run_rows import HEAD, SHORT, row_of
from jpo.report.spreadsheet import csv_line

MOST_ROWS = 1000
"""Runs, and suggestions, in tables where nobody said how many: laying out 100,000 takes a minute, and nobody reads them."""


def history(loaded: Loaded, *, form: str, limit: int | None, width: int, colour: bool) -> str:
    """The last `limit` runs and suggestions of the store, oldest first; `form` is table, json or csv (runs only).

    Without a limit it is all of them, but a table says so where it leaves out those before the newest MOST_ROWS.
    """
    most = MOST_ROWS if form == "table" and limit is None else None
    asked = most + 1 if most else limit
    with store_of(loaded, read_only=True) as store:
        runs, suggestions = store.recorded_runs(limit=asked), store.suggestions_of(limit=asked)
    if form == "json":
        return as_json(runs, suggestions)
    if form == "csv":
        return as_csv(runs)
    if most is None or max(len(runs), len(suggestions)) <= most:
        return as_tables(runs, suggestions, width, colour)
    older = f"the newest {most}; older ones are left out; --limit N shows so many, --format csv all runs\n"
    return as_tables(runs[-most:], suggestions[-most:], width, colour) + older


def as_json(runs: Sequence[RecordedRun], suggestions: Sequence[Suggestion]) -> str:
    """`{"schema_version", "runs": [...], "suggestions": [...]}`; what was not measured is null."""
    document: dict[str, Any] = {
        "schema_version": 1,
        "runs": [
            {
                "run_id": known.run.run_id,
                "workload": asdict(known.run.identity),
                "status": known.run.status.value,
                "started_at": known.run.started_at,
                "ended_at": known.run.ended_at,
                "parameters": dict(known.run.parameters),
                "outcome": asdict(known.run.outcome),
                "suggestion_id": known.suggestion_id,
            }
            for known in runs
        ],
        "suggestions": [
            {
                "suggestion_id": one.suggestion_id,
                "workload": asdict(one.identity),
                "created_at": one.created_at,
                "status": one.status,
                "current": dict(one.current),
                "suggested": dict(one.suggested),
                "forecast": asdict(one.next),
                "decided_by": one.decided_by,
            }
            for one in suggestions
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_csv(runs: Sequence[RecordedRun]) -> str:
    """One row per run: identity, status, times, parameters, outcome; empty cells where nothing is known."""
    return "".join(map(csv_line, (HEAD, *(row_of(known.run, known.suggestion_id) for known in runs))))


def as_tables(runs: Sequence[RecordedRun], suggestions: Sequence[Suggestion], width: int, colour: bool) -> str:
    """Per workload a table of runs and one of suggestions, for people."""
    text = StringIO()
    console = Console(
        file=text, width=width, force_terminal=colour, no_color=not colour, highlight=False, markup=False, emoji=False
    )
    workloads: dict[Identity, tuple[list[RecordedRun], list[Suggestion]]] = {}
    for known in runs:
        workloads.setdefault(known.run.identity, ([], []))[0].append(known)
    for one in suggestions:
        workloads.setdefault(one.identity, ([], []))[1].append(one)
    for identity, (ran, made) in workloads.items():
        console.print(f"Workload {printable(str(identity))}\n", style="bold")
        for table in (_runs(ran), _suggestions(made)):
            if table.row_count:
                console.print(table, "")
    if not runs and not suggestions:
        console.print("nothing on record yet; start with `jpo suggest config.ini`")
    return "\n".join(line.rstrip() for line in text.getvalue().split("\n"))


def _runs(runs: Sequence[RecordedRun]) -> Table:
    names = [name for name in PARAMETERS if any(name in known.run.parameters for known in runs)]
    table = _table("run", "ended (UTC)", "status", *(SHORT[name] for name in names), "duration", "val loss", "suggestion")
    for known in runs:
        run, outcome = known.run, known.run.outcome
        values = [numbers.plain(run.parameters[name]) if name in run.parameters else "" for name in names]
        took = "" if outcome.duration_seconds is None else numbers.duration(outcome.duration_seconds)
        loss = "" if outcome.val_loss is None else numbers.plain(outcome.val_loss)
        name, ended = printable(run.run_id), _time(run.ended_at)
        table.add_row(name, ended, _status(known), *values, took, loss, known.suggestion_id or "")
    return table


def _status(known: RecordedRun) -> str:
    return "target missed" if known.run.outcome.converged is False else known.run.status.value


def _suggestions(suggestions: Sequence[Suggestion]) -> Table:
    table = _table("suggestion", "made (UTC)", "changes", "expected duration", "decided by")
    for one in suggestions:
        changes = (
            ", ".join(f"{SHORT[change.parameter]} {change.old_text} → {change.new_text}" for change in one.changes) or "kept"
        )
        expected = numbers.expected("duration_seconds", one.next.duration_seconds, bounds=True)
        table.add_row(one.suggestion_id, _time(one.created_at), changes, expected, one.decided_by)
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in ("run", "status", "duration"))
    return table


def _time(at: float) -> str:
    """Day and time in UTC; a number where no calendar reaches."""
    found = moment(at)
    return found.strftime("%m-%d %H:%M") if found else f"{at:g}"
