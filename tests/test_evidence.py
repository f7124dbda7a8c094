"""What the commands know before they decide, as far as no command's own tests show it."""

from __future__ import annotations

from jpo.evidence import untried
from jpo.history import open_store
from jpo.records import Change, Evidence, Forecast, Guarded, Identity, Preference, Suggestion

DIGITS = Identity("digits", "cnn", "pytorch")
NOW = 1_700_000_000.0


def a_suggestion(created_at: float) -> Suggestion:
    return Suggestion(
        suggestion_id=f"s-{created_at:.0f}",
        identity=DIGITS,
        status="changed",
        keys={"batch_size": "training.batch_size"},
        current={"batch_size": 32.0},
        suggested={"batch_size": 64.0},
        changes=(Change("batch_size", "training.batch_size", 32, 64, "32", "64", "fewer steps", 0.9),),
        now=Forecast(),
        next=Forecast(),
        guard=Guarded(True),
        evidence=Evidence(3, (), 0, 0.0, ()),
        decided_by="belief",
        confidence=0.9,
        reasons=(),
        codes=(),
        created_at=created_at,
        preference=Preference(),
        seed=0,
        sla=(),
    )


def test_a_suggestion_dated_by_a_clock_far_ahead_is_not_waited_for() -> None:
    with open_store("sqlite://") as store:
        store.append(a_suggestion(NOW - 60), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is not None
        store.append(a_suggestion(NOW + 86400), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is None
