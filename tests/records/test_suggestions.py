"""Suggestions that are read back, those of earlier versions among them."""

import pytest
from made import a_suggestion

from jpo.records import Note, Suggestion, suggestion_from


def read(**older: object) -> Suggestion:
    """A suggestion of a version that did not say what kind it is."""
    new = a_suggestion()
    values, decision = new.values, new.decision
    given = {"decided_by": decision.decided_by, "reasons": decision.reasons, "status": new.status, "confidence": None}
    given |= {name: getattr(new, name) for name in ("suggestion_id", "identity", "created_at", "changes", "now", "next")}
    given |= {"guard": new.guard, "evidence": new.evidence, "preference": decision.preference, "seed": 1}
    given |= {"keys": values.keys, "current": values.current, "suggested": values.suggested}
    return suggestion_from(**{**given, **older})


@pytest.mark.parametrize(
    ("older", "kind"),
    [
        ({"status": "kept"}, "kept"),
        ({"reasons": (Note("JPO-I603", "was run 3 times"),)}, "return"),
        ({"decided_by": "rollback"}, "return"),
        ({"reasons": (Note("JPO-I604", "has not been tried"),)}, "trial"),
        ({"reasons": (Note("JPO-I604", "has not been tried"),), "kind": "improvement"}, "improvement"),
    ],
    ids=str,
)
def test_what_an_earlier_version_answered_is_of_the_kind_that_its_codes_say(older: dict[str, object], kind: str) -> None:
    assert read(**older).decision.kind == kind
