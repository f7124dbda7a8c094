"""Records for tests that need a whole one and care for a part of it."""

from __future__ import annotations

from dataclasses import fields, replace

from jpo.records import (
    RISK,
    Change,
    Evidence,
    Forecast,
    Guarded,
    Identity,
    Interval,
    Note,
    Outcome,
    Preference,
    Run,
    RunStatus,
    Skipped,
    SlaCheck,
    Suggestion,
    suggestion_from,
    uncoded,
)
from jpo.records.suggestions import PARTS

DIGITS = Identity("digits", "cnn", "pytorch")


def a_run(run_id: str = "r1", ended_at: float = 200.0, **changes: object) -> Run:
    parameters = {"batch_size": 64.0, "learning_rate": 0.1}
    run = Run(run_id, DIGITS, parameters, RunStatus.SUCCEEDED, ended_at - 50, ended_at, Outcome(duration_seconds=50.0), "csv")
    return replace(run, **changes)


def a_suggestion(suggestion_id: str = "s1", created_at: float = 100.0, **changes: object) -> Suggestion:
    suggestion = suggestion_from(
        suggestion_id=suggestion_id,
        identity=DIGITS,
        status="changed",
        keys={"batch_size": "training.batch_size", "learning_rate": "training.lr"},
        current={"batch_size": 32.0, "learning_rate": 0.1},
        suggested={"batch_size": 64.0, "learning_rate": 0.1},
        changes=(Change("batch_size", "training.batch_size", 32, 64, "32", "64", "fewer steps – naïve", 0.9, "step"),),
        now=Forecast(duration_seconds=Interval(100.0, 90.0, 120.0)),
        next=Forecast(cost_usd=Interval(0.1 + 0.2, 1e-300, 1e300)),
        guard=Guarded(True, (), uncoded(["learning_rate = 0.5 is above 0.1; it was left as it is"])),
        evidence=Evidence(3, (Skipped("r0", "failed"),), 2, 0.1, uncoded(["from the local history"]), codes=("JPO-I401",)),
        decided_by="sac",
        confidence=None,
        reasons=(Note(RISK, "because"),),
        created_at=created_at,
        preference=Preference(0.3, 0.6, 0.1),
        seed=2**70,
        sla=(SlaCheck("time_max", 21600.0, "at risk"),),
        policy="ab" * 32,
    )
    return altered(suggestion, **changes)


def altered(suggestion: Suggestion, **changes: object) -> Suggestion:
    """The suggestion with other values of these names, whichever of its parts has them."""
    records = (suggestion, *(getattr(suggestion, name) for name in PARTS))
    as_it_is = {f.name: getattr(record, f.name) for record in records for f in fields(record) if f.name not in PARTS}
    return suggestion_from(**{**as_it_is, **changes})
