"""A record of the audit log retells what it is about without the tables."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from made import DIGITS, a_suggestion

from jpo.history.canonical import canonical
from jpo.history.events import MOST_REASONS, in_short, observed, refused, suggested
from jpo.records import (
    Evidence,
    Outcome,
    Parameter,
    Run,
    RunStatus,
    Skipped,
    Suggestion,
    Workload,
    as_stored,
    uncoded,
)

SUGGESTION = a_suggestion(
    confidence=0.93,
    evidence=Evidence(
        3,
        (Skipped("r1", "failed"), Skipped("r2", "failed"), Skipped("r3", "no end")),
        4,
        0.2,
        uncoded(["offline"]),
        ("r4",),
        ("JPO-I401",),
    ),
)


def logged(suggestion: Suggestion = SUGGESTION) -> dict[str, object]:
    """What is in the log, read back from its text."""
    found: dict[str, object] = json.loads(canonical(suggested(suggestion, "config.ini", "cd" * 32).data))
    return found


def test_a_suggestion_can_be_rebuilt_from_its_record_alone() -> None:
    data = logged()
    stored = as_stored(SUGGESTION)
    for name in ("suggestion_id", "keys", "current", "suggested", "decided_by", "confidence", "policy", "seed"):
        assert data[name] == stored[name]
    assert canonical(data["preference"]) == canonical(asdict(SUGGESTION.decision.preference))
    assert canonical(data["guard"]) == canonical(
        {"approved": True, "violations": [], "notices": [SUGGESTION.guard.notices[0].text]}
    )
    assert canonical(data["forecast"]) == canonical({"now": SUGGESTION.now.document, "next": SUGGESTION.next.document})
    assert (data["reasons"], data["codes"], data["why"]) == (
        ["because"],
        ["JPO-I401"],
        {"training.batch_size": "fewer steps – naïve"},
    )
    assert data["changes"] == [{"key": "training.batch_size", "old": "32", "new": "64"}]
    assert (data["config"], data["source_digest"]) == ("config.ini", "cd" * 32)


def test_no_part_of_a_suggestion_is_forgotten_by_the_log() -> None:
    elsewhere = {"identity": "column", "created_at": "column", "status": "kind", "now": "forecast", "next": "forecast"}
    missing = as_stored(SUGGESTION).keys() - elsewhere.keys() - logged().keys()
    assert missing == set()


def test_the_kind_says_whether_anything_changes() -> None:
    assert suggested(SUGGESTION, "c", "d").kind == "suggested"
    assert suggested(replace(SUGGESTION, status="kept", changes=()), "c", "d").kind == "kept"


def test_skipped_runs_are_counted_by_reason() -> None:
    assert in_short(SUGGESTION.evidence) == {
        "runs_used": 3,
        "run_ids": ("r4",),
        "runs_skipped": {"failed": 2, "no end": 1},
        "requests": 4,
        "seconds": 0.2,
        "notes": ("offline",),
    }


def test_a_thousand_different_reasons_do_not_bloat_the_log() -> None:
    skipped = tuple(Skipped(f"r{n}", f"reason {n}") for n in range(1000))
    reasons = in_short(Evidence(0, skipped))["runs_skipped"]
    assert isinstance(reasons, dict)
    assert len(reasons) == MOST_REASONS + 1
    assert reasons["other reasons"] == 1000 - MOST_REASONS


def test_a_refusal_says_what_was_wanted_of_which_file_and_why_not() -> None:
    parameter = Parameter("batch_size", "training.batch_size", 32.0, "32", 3)
    workload = Workload(DIGITS, (parameter,), Path("config.ini"), b"[training]\n")
    event = refused(workload, {"batch_size": 4096.0}, ("too large",), code="JPO-E401", now=5.0, about={"decided_by": "user"})
    assert (event.kind, event.at, event.identity) == ("refused", 5.0, DIGITS)
    assert event.data == {
        "decided_by": "user",
        "config": "config.ini",
        "source_digest": workload.digest,
        "keys": {"batch_size": "training.batch_size"},
        "current": {"batch_size": 32.0},
        "suggested": {"batch_size": 4096.0},
        "violations": ["too large"],
        "code": "JPO-E401",
    }


def test_a_run_can_be_rebuilt_from_its_record_alone() -> None:
    run = Run("r1", DIGITS, {"batch_size": 64.0}, RunStatus.FAILED, 10.0, 60.0, Outcome(duration_seconds=50.0), "csv")
    data = json.loads(canonical(observed(run, "s1", 70.0).data))
    again = Run(
        data["run_id"],
        DIGITS,
        data["parameters"],
        RunStatus(data["status"]),
        data["started_at"],
        data["ended_at"],
        Outcome(**data["outcome"]),
        data["source"],
    )
    assert (again, data["suggestion_id"]) == (run, "s1")
