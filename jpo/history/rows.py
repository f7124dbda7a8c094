"""Rows of the tables: records -> columns and back; no statement and no connection here.

Reading raises ValueError, LookupError or TypeError for a row that does not hold what was written; the store reports damage.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from jpo.history.audit import AuditRow
from jpo.history.canonical import canonical
from jpo.history.database import TableRow
from jpo.history.runs import Reading, RecordedRun
from jpo.history.series import pack, unpack
from jpo.records import (
    MEASURED,
    Alternative,
    Change,
    Checkout,
    Evidence,
    Finished,
    Forecast,
    Guarded,
    Identity,
    Interval,
    Outcome,
    Preference,
    RuleApplied,
    Run,
    RunStatus,
    Series,
    Skipped,
    SlaCheck,
    Suggestion,
    as_stored,
    reasons_as_stored,
    suggestion_from,
    uncoded,
    value_of,
)

Columns = dict[str, str | float | None]
RUN_COLUMNS = (
    *("dataset", "model", "framework", "hardware", "run_id", "status", "source", "started_at", "ended_at", "recorded_at"),
    *("suggestion_id", "parameters", *MEASURED, "fell_silent", "metrics", "assumed"),
)
"""The columns of `runs` without its number."""
_measured = itemgetter(*MEASURED)
WORDS = ':"'
"""What canonical JSON of a configuration has only where a value is a word."""
SUGGESTION_COLUMNS = ("dataset", "model", "framework", "hardware", "suggestion_id", "created_at", "status", "document")
"""The columns of `suggestions` without its number, and without `withdrawn`."""


class StoredTable(NamedTuple):
    """A table as it is copied: its columns, those among them that hold bytes, and the column or columns that order its rows."""

    columns: tuple[str, ...]
    order: str
    binary: tuple[str, ...] = ()


_WORKLOAD = ("dataset", "model", "framework", "hardware")
TABLES: Mapping[str, StoredTable] = {
    "suggestions": StoredTable(("number", *SUGGESTION_COLUMNS, "withdrawn"), "number"),
    "runs": StoredTable(("number", *RUN_COLUMNS), "number"),
    "series": StoredTable(("run", "quantity", "packed"), "run, quantity", ("packed",)),
    "watermarks": StoredTable((*_WORKLOAD, "source", "read_until", "passed_over"), ", ".join((*_WORKLOAD, "source"))),
    "agents": StoredTable(("name", "version", "state"), "name", ("state",)),
    "audit": StoredTable(AuditRow._fields, "number"),
}
"""In an order in which rows can be inserted: tables that others refer to come first."""


def identity_columns(identity: Identity) -> Columns:
    """The columns that name a workload; hardware that nobody names is empty text, which can be compared."""
    return {**identity.labels, "hardware": identity.hardware or ""}


def read_identity(row: TableRow) -> Identity:
    return _identity(row["dataset"], row["model"], row["framework"], row["hardware"])


@lru_cache(maxsize=1024)  # thousands of runs are of a few workloads
def _identity(dataset: str, model: str, framework: str, hardware: str) -> Identity:
    return Identity(dataset, model, framework, hardware or None)


def read_reading(row: TableRow) -> Reading:
    """How far a source has been read, of a row of `watermarks`."""
    passed_over = json.loads(row["passed_over"])
    return Reading(row["read_until"], {str(run_id): float(looked_at) for run_id, looked_at in passed_over.items()})


def run_key(run: Run) -> Columns:
    return {**identity_columns(run.identity), "run_id": run.run_id}


def series_rows(finished: Finished) -> Iterator[dict[str, object]]:
    """Rows of `series`, each with the key of its run; none where an id that two workloads use does not say whose it is."""
    runs: dict[str, dict[Identity, Run]] = defaultdict(dict)
    for run in finished.runs:
        runs[run.run_id][run.identity] = run
    for series in finished.series:
        if len(runs[series.run_id]) == 1:
            (run,) = runs[series.run_id].values()
            yield {**run_key(run), "quantity": series.quantity, "packed": pack(series.times, series.values)}


def run_columns(recorded: RecordedRun) -> Columns:
    run = recorded.run
    return {
        **identity_columns(run.identity),
        "run_id": run.run_id,
        "status": run.status.value,
        "source": run.source,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "recorded_at": recorded.recorded_at,
        "suggestion_id": recorded.suggestion_id,
        "parameters": canonical(run.parameters),
        **{name: getattr(run.outcome, name) for name in MEASURED},
        "fell_silent": int(run.fell_silent),
        "metrics": canonical(run.outcome.metrics),
        "assumed": canonical(run.assumed),
    }


def read_run(row: TableRow) -> RecordedRun:
    """The run of a row; it takes 10 us, and a suggestion may read 10,000."""
    outcome: dict[str, Any] = dict(zip(MEASURED, _measured(row), strict=True))
    metrics, assumed, parameters = row["metrics"], row["assumed"], json.loads(row["parameters"])
    run = Run(
        run_id=row["run_id"],
        identity=read_identity(row),
        parameters=_values(parameters) if WORDS in row["parameters"] else parameters,
        status=RunStatus(row["status"]),
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        outcome=Outcome(**outcome, metrics={} if metrics == "{}" else json.loads(metrics)),
        source=row["source"],
        fell_silent=bool(row["fell_silent"]),
        assumed=() if assumed == "[]" else tuple(json.loads(assumed)),
    )
    return RecordedRun(run, row["suggestion_id"], row["recorded_at"])


def read_series(row: TableRow) -> Series:
    times, values = unpack(row["packed"])
    return Series(row["run_id"], row["quantity"], times, values)


def suggestion_columns(suggestion: Suggestion) -> Columns:
    return {
        **identity_columns(suggestion.identity),
        "suggestion_id": suggestion.suggestion_id,
        "created_at": suggestion.created_at,
        "status": suggestion.status,
        "document": canonical(as_stored(suggestion)),
    }


def read_suggestion(row: TableRow) -> Suggestion:
    return _suggestion_in(row["document"])


@lru_cache(maxsize=256)  # one command looks at the newest suggestions from several sides
def _suggestion_in(text: str) -> Suggestion:
    document: dict[str, Any] = json.loads(text)
    guard, (reasons, codes) = document["guard"], reasons_as_stored(document)
    return suggestion_from(
        **{
            **document,
            "identity": Identity(**document["identity"]),
            **{name: _values(document[name]) for name in ("current", "suggested")},
            "changes": tuple(Change(**{**each, **_values({n: each[n] for n in ("old", "new")})}) for each in document["changes"]),
            "now": _forecast(document["now"]),
            "next": _forecast(document["next"]),
            "guard": Guarded(guard["approved"], uncoded(guard["violations"]), uncoded(guard["notices"])),
            "evidence": replace(_evidence(document["evidence"]), codes=codes),
            "reasons": reasons,
            "preference": Preference(**document["preference"]),
            "sla": tuple(SlaCheck(**check) for check in document["sla"]),
            "alternatives": tuple(
                Alternative(_values(other["parameters"]), _forecast(other["forecast"]), other["why_not"])
                for other in document.get("alternatives", ())
            ),
            "would_change": tuple(document.get("would_change", ())),
            "difference": {name: Interval(**ends) for name, ends in document.get("difference", {}).items()},
            "rules": tuple(RuleApplied(**rule) for rule in document.get("rules", ())),
            "runs_saved": Interval(**document["runs_saved"]) if document.get("runs_saved") else None,
            "trial": tuple(document["trial"]) if document.get("trial") else None,
            "as_run": tuple(document.get("as_run", ())),
            "checkout": _checkout(document.get("checkout")),
        }
    )


def _values(document: Mapping[str, Any]) -> dict[str, float]:
    return {name: value_of(value) for name, value in document.items()}


def _forecast(document: Mapping[str, Any]) -> Forecast:
    own: Mapping[str, Any] = document.get("metrics") or {}
    bounds = {**{name: bounds for name, bounds in document.items() if name != "metrics"}, **own}
    return Forecast().having({name: None if ends is None else Interval(**ends) for name, ends in bounds.items()})


def _checkout(document: Mapping[str, Any] | None) -> Checkout | None:
    if document is None:
        return None
    committed = document["committed"]
    return Checkout(document["file"], document["branch"], None if committed is None else _values(committed))


def _evidence(document: Mapping[str, Any]) -> Evidence:
    skipped, run_ids = tuple(Skipped(**run) for run in document["runs_skipped"]), tuple(document.get("run_ids", ()))
    return Evidence(**{**document, "runs_skipped": skipped, "notes": uncoded(document["notes"]), "run_ids": run_ids})
