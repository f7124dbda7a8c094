"""Audit events of runs, suggestions and refusals: enough to reconstruct them, should the tables themselves be altered.

Each record also says who, where and with which versions ("by"): the store adds that. Digests are SHA-256, hex.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields

from jpo.history.audit import AuditEvent
from jpo.history.canonical import Json
from jpo.records import Evidence, Outcome, Run, Suggestion, Workload, as_stored, texts_of

MADE, SETTLED = ("suggested", "rolled back"), ("written", "conflict", "not written")
"""Events of a suggestion that changes something, and those that say what became of it."""
ADJUSTED = "adjusted"
"""Event of a decision about a run that went on: it was ended, or a part of what it held was released."""
AS_STORED = (
    *("suggestion_id", "keys", "current", "suggested", "texts", "as_run", "checkout", "guard", "decided_by", "policy"),
    *("confidence", "reasons", "codes", "sla", "preference", "seed", "seen", "would_change", "undoes", "pinned_until"),
    *("kind", "trial", "rules", "difference", "runs_saved"),
)
"""What the account of a suggestion has as the store has it."""
MOST_REASONS = 20
"""Different reasons for skipping runs that are recorded one by one; a source may give every run its own."""


def observed(run: Run, suggestion_id: str | None, now: float) -> AuditEvent:
    """The event "observed": a run went on record, or gained values that were unknown."""
    data: dict[str, Json] = {
        "run_id": run.run_id,
        "status": run.status.value,
        "source": run.source,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "parameters": run.parameters,
        "outcome": {f.name: value for f in fields(Outcome) if (value := getattr(run.outcome, f.name)) not in (None, {})},
        "suggestion_id": suggestion_id,
        **({"fell_silent": True} if run.fell_silent else {}),
        **({"assumed": run.assumed} if run.assumed else {}),
    }
    return AuditEvent("observed", now, run.identity, data)


def suggested(suggestion: Suggestion, config: str, source_digest: str, planned_digest: str | None = None) -> AuditEvent:
    """The event of a suggestion; a later one says whether it was written ("written", "conflict", "not written")."""
    kind = "suggested" if suggestion.status == "changed" else "kept"
    kind = "rolled back" if suggestion.decision.decided_by == "rollback" else kind
    data = {**account(suggestion), "config": config, "source_digest": source_digest}
    if planned_digest is not None:
        data["planned_digest"] = planned_digest
    return AuditEvent(kind, suggestion.created_at, suggestion.identity, data)


def refused(
    workload: Workload, wanted: Mapping[str, float], why: Sequence[str], *, code: str, now: float, about: Mapping[str, Json]
) -> AuditEvent:
    """The event "refused": values were refused, or none can be proposed; config.ini stays as it is.

    `wanted`: the refused values by parameter name; empty when no configuration was admissible. `why`: a sentence for each
    objection. `about`: further details, as in `account`.
    """
    data: dict[str, Json] = {
        **about,
        "config": str(workload.path),
        "source_digest": workload.digest,
        "keys": {parameter.name: parameter.key for parameter in workload.parameters},
        "current": workload.current,
        "suggested": wanted,
        "violations": list(why),
        "code": code,
    }
    return AuditEvent("refused", now, workload.identity, data)


def account(suggestion: Suggestion) -> dict[str, Json]:
    """Account of a suggestion for the log: before and after, what was expected, the guard's verdict, and the evidence."""
    stored = as_stored(suggestion)
    return {
        **{name: stored[name] for name in AS_STORED},
        "changes": [{"key": change.key, "old": change.old_text, "new": change.new_text} for change in suggestion.changes],
        "why": {change.key: change.reason for change in suggestion.changes},
        "forecast": {"now": suggestion.now.document, "next": suggestion.next.document},
        "evidence": in_short(suggestion.evidence),
        "alternatives": [alternative.document for alternative in suggestion.prospects.alternatives],
    }


def in_short(evidence: Evidence) -> dict[str, Json]:
    """The evidence of a suggestion, with skipped runs counted by reason."""
    skipped = Counter[str]()
    for run in evidence.runs_skipped:
        skipped[run.reason] += run.count
    by_reason: dict[str, Json] = dict(skipped.most_common(MOST_REASONS))
    if len(skipped) > MOST_REASONS:
        by_reason["other reasons"] = skipped.total() - sum(count for _, count in skipped.most_common(MOST_REASONS))
    effort = {"requests": evidence.requests, "seconds": evidence.seconds}
    used: dict[str, Json] = {"runs_used": evidence.runs_used, "run_ids": evidence.run_ids}
    return {**used, "runs_skipped": by_reason, **effort, "notes": texts_of(evidence.notes)}
