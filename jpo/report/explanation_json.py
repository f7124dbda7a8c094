"""A suggestion retold in full, for programs: the document of `jpo suggest -o json` and what came of it."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from jpo.records import Forecast, Run
from jpo.report import as_json
from jpo.report.explanation import Explanation


def render(told: Explanation) -> str:
    """`{"schema_version", "suggestion": {...}, "standing", "evidence_runs", "followed_by", "coverage"}`."""
    expected = told.report.suggestion.next
    document: dict[str, Any] = {
        "schema_version": 1,
        "suggestion": as_json.document(told.report).model_dump(),
        "standing": told.standing,
        "evidence_runs": [run_document(run) for run in told.evidence],
        "followed_by": [{**run_document(run), "inside": inside(expected, run)} for run in told.followers],
        "coverage": {quantity: asdict(interval) for quantity, interval in told.coverage.items()},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def run_document(run: Run) -> dict[str, Any]:
    """A run as `jpo history -o json` shows it."""
    return {
        "run_id": run.run_id,
        "status": run.status.value,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "parameters": dict(run.parameters),
        "outcome": asdict(run.outcome),
    }


def inside(expected: Forecast, run: Run) -> dict[str, bool]:
    """By quantity whether a run ended within its forecast's interval, where both are known."""
    pairs = {f.name: (getattr(expected, f.name), getattr(run.outcome, f.name)) for f in fields(Forecast)}
    return {name: bool(one.low <= actual <= one.high) for name, (one, actual) in pairs.items() if one and actual is not None}
