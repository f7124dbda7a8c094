"""The report as the JSON document that is published: everything of it, amounts in USD, what is not known null."""

from collections.abc import Sequence
from dataclasses import asdict

from jpo.history import AuditRecord
from jpo.plugins.page.report.record import Review, ReviewedRun, ReviewedSuggestion, WorkloadReview
from jpo.records import plain_values
from jpo.report import audit, before_after, history, sla
from jpo.report.sla import SlaReport


def as_json(review: Review) -> dict[str, object]:
    """`{"schema_version", "made_at", "store", "saved", "workloads": [...], "learning", "audit", "notes"}`."""
    log = review.audit
    return {
        "schema_version": 1,
        "made_at": review.made_at,
        "version": review.version,
        "store": review.place,
        "saved": {quantity: asdict(saved) if saved else None for quantity, saved in review.saved.items()},
        "workloads": [_workload(workload, review) for workload in review.workloads],
        "learning": {"decides": review.decides, "learnt": _records(log.learnt), "tested": _records(log.tested)},
        "audit": {
            "intact": log.chain.ok,
            "records": log.chain.records,
            "head": log.chain.head,
            "first_bad": log.chain.first_bad,
            "reason": log.chain.reason,
            "kinds": dict(log.kinds),
            "notable": _records(log.notable),
            "contradicted": list(log.contradicted),
        },
        "notes": list(review.notes),
    }


def _workload(workload: WorkloadReview, review: Review) -> dict[str, object]:
    promises = sla.as_json(SlaReport(workload.identity, review.targets, (), workload.compliance, len(workload.runs)))
    return {
        "workload": workload.identity.labels,
        "first_change": workload.since,
        "saved": [asdict(saved) for saved in workload.saved],
        "before_after": before_after.change_document(workload.change),
        "runs": [_run(reviewed) for reviewed in workload.runs],
        "suggestions": [_decision(decision) for decision in workload.decisions],
        "track_record": [
            {**asdict(past), "coverage": asdict(workload.ledger.coverage[past.quantity])} for past in workload.ledger.track
        ],
        "front": {
            "quantities": list(workload.front.quantities),
            "points": [{**asdict(point), "parameters": plain_values(point.parameters)} for point in workload.front.points],
        },
        "sla": {"promises": promises["promises"], "compliance": promises["compliance"]},
    }


def _run(reviewed: ReviewedRun) -> dict[str, object]:
    recorded = reviewed.past.recorded
    return {
        **history.run_document(recorded.run),
        "suggestion_id": recorded.suggestion_id,
        "cost_usd": reviewed.cost_usd,
        "sla": reviewed.past.sla or None,
    }


def _decision(decision: ReviewedSuggestion) -> dict[str, object]:
    """As `jpo history` publishes it, with who asked and what became of it."""
    document = history.suggestion_document(decision.suggestion, ())
    return {
        **{name: value for name, value in document.items() if name != "outcome"},
        "asked_by": decision.asked_by or None,
        "result": decision.fate,
        "runs": decision.runs,
        "compared": decision.compared,
        "inside": decision.inside,
        "actual_duration_seconds": decision.actual.median,
        "beyond_seconds": decision.spent.before if decision.spent else None,
    }


def _records(records: Sequence[AuditRecord]) -> list[dict[str, object]]:
    return [
        {
            "number": record.number,
            "at": record.at,
            "kind": record.kind,
            "workload": record.identity.labels if record.identity else None,
            "what": audit.in_words(record.kind, record.data),
            "by": audit.maker(record.data),
        }
        for record in records
    ]
