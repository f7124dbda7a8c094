"""What the audit log says of a run and of a suggestion: enough to retell them, should the tables themselves be altered."""

from __future__ import annotations

from dataclasses import asdict

from jpo.history.audit import AuditEvent
from jpo.history.canonical import Json
from jpo.records import Run, Suggestion


def observed(run: Run, suggestion_id: str | None, now: float) -> AuditEvent:
    """A run was put on record, or gained what was unknown."""
    data: dict[str, Json] = {
        "run_id": run.run_id,
        "status": run.status.value,
        "source": run.source,
        "parameters": run.parameters,
        "outcome": {name: value for name, value in asdict(run.outcome).items() if value is not None},
        "suggestion_id": suggestion_id,
    }
    return AuditEvent("observed", now, run.identity, data)


def suggested(suggestion: Suggestion, config: str, source_digest: str) -> AuditEvent:
    """A suggestion was made; whether it was written is told by a later record ("written", "conflict", "refused")."""
    data: dict[str, Json] = {
        "suggestion_id": suggestion.suggestion_id,
        "config": config,
        "source_digest": source_digest,
        "changes": [{"key": one.key, "old": one.old_text, "new": one.new_text} for one in suggestion.changes],
        "decided_by": suggestion.decided_by,
        "approved": suggestion.guard.approved,
        "violations": suggestion.guard.violations,
    }
    kind = "suggested" if suggestion.status == "changed" else "kept"
    return AuditEvent(kind, suggestion.created_at, suggestion.identity, data)
