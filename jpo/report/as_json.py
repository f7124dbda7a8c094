"""A report as JSON: the document that pipelines read, and its published schema. Both come from the models below."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from jpo.records import Forecast, Suggestion
from jpo.report.report import Report

SCHEMA_VERSION = 1


class Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkloadDocument(Document):
    dataset: str
    model: str
    framework: str


class ChangeDocument(Document):
    parameter: str
    key: str
    old: float
    new: float
    old_text: str
    new_text: str
    reason: str
    confidence: float | None
    capped_by: str | None


class IntervalDocument(Document):
    """Mean and 90% interval."""

    mean: float
    low: float
    high: float


class NowNext(Document):
    """Null where no evidence supports a number."""

    now: IntervalDocument | None
    next: IntervalDocument | None


NOTHING = NowNext(now=None, next=None)


class ForecastDocument(Document):
    duration_seconds: NowNext
    cost_usd: NowNext
    val_loss: NowNext
    throughput_samples_per_second: NowNext = NOTHING
    memory_gib: NowNext = NOTHING
    gpu_utilisation: NowNext = NOTHING
    cpu_utilisation: NowNext = NOTHING


class AlternativeDocument(Document):
    """A configuration that was not suggested: what is expected of it (by quantity; null = unknown), and why it was not."""

    parameters: dict[str, float]
    forecast: dict[str, IntervalDocument | None]
    why_not: str


class SlaDocument(Document):
    name: str
    limit: float
    verdict: Literal["ok", "at risk", "broken", "unknown"]


class SkippedDocument(Document):
    run_id: str
    reason: str


class PrometheusDocument(Document):
    requests: int
    seconds: float


class EvidenceDocument(Document):
    runs_used: int
    runs_skipped: list[SkippedDocument]
    prometheus: PrometheusDocument
    notes: list[str]
    run_ids: list[str] = []


class GuardDocument(Document):
    approved: bool
    violations: list[str]
    notices: list[str]


class TrackDocument(Document):
    """How earlier forecasts of one quantity turned out; `median_error` is a ratio."""

    quantity: str
    forecasts: int
    median_error: float
    inside: int


class SuggestionDocument(Document):
    """One answer of `jpo suggest -o json`. Times are unix seconds.

    `confidence` is the probability that what is suggested is not worse than today's values by more than a tenth; null = unknown.
    `evidence.run_ids`: the newest runs with today's and with the suggested values. `seen`: what the agent saw, by name.
    `undoes`: for a rollback, the suggestion that it undoes, with all after it; its values stay as they are until `pinned_until`.
    """

    schema_version: Literal[1]
    suggestion_id: str
    created_at: float
    config: str
    workload: WorkloadDocument
    status: Literal["changed", "kept"]
    written: bool
    current: dict[str, float]
    suggested: dict[str, float]
    changes: list[ChangeDocument]
    decided_by: str
    confidence: float | None
    reasons: list[str]
    forecast: ForecastDocument
    sla: list[SlaDocument]
    track_record: list[TrackDocument]
    evidence: EvidenceDocument
    guard: GuardDocument
    reason_codes: list[str]
    preference: dict[str, float]
    seed: int
    diff: str | None
    alternatives: list[AlternativeDocument] = []
    would_change: list[str] = []
    seen: dict[str, float] = {}
    policy: str | None = None
    undoes: str | None = None
    pinned_until: float | None = None


def render(report: Report) -> str:
    """The document as indented JSON."""
    return document(report).model_dump_json(indent=2) + "\n"


def schema() -> str:
    """JSON Schema of the document."""
    return json.dumps(SuggestionDocument.model_json_schema(), indent=2) + "\n"


def document(report: Report) -> SuggestionDocument:
    """Build it, validated."""
    suggestion = report.suggestion
    evidence = suggestion.evidence
    return SuggestionDocument.model_validate(
        {
            "schema_version": SCHEMA_VERSION,
            "config": str(report.path),
            "workload": asdict(suggestion.identity),
            "written": report.written,
            "changes": [asdict(change) for change in suggestion.changes],
            "forecast": forecast(suggestion),
            "sla": [asdict(check) for check in suggestion.sla],
            "track_record": [asdict(one) for one in report.track],
            "evidence": {
                "runs_used": evidence.runs_used,
                "runs_skipped": [asdict(one) for one in evidence.runs_skipped],
                "prometheus": {"requests": evidence.requests, "seconds": evidence.seconds},
                "notes": list(evidence.notes),
                "run_ids": list(evidence.run_ids),
            },
            "guard": asdict(suggestion.guard),
            "reason_codes": list(suggestion.codes),
            "preference": asdict(suggestion.preference),
            "diff": report.diff,
            "alternatives": [asdict(one) for one in suggestion.alternatives],
            **{name: getattr(suggestion, name) for name in SAME},
        }
    )


SAME = (
    *("suggestion_id", "created_at", "status", "current", "suggested", "decided_by", "confidence", "reasons", "seed"),
    *("would_change", "seen", "policy", "undoes", "pinned_until"),
)
"""Fields that the document takes over from the suggestion as they are."""


def forecast(suggestion: Suggestion) -> dict[str, Any]:
    """Per quantity: now and next."""

    def pair(name: str) -> dict[str, Any]:
        return {"now": interval(suggestion.now, name), "next": interval(suggestion.next, name)}

    return {f.name: pair(f.name) for f in fields(Forecast)}


def interval(expected: Forecast, name: str) -> dict[str, float] | None:
    value = getattr(expected, name)
    return asdict(value) if value else None
