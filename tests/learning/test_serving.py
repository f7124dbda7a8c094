from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest

from jpo.agent.policy import load_policy, save_policy
from jpo.history import Store, open_store
from jpo.learning.serving import POLICY, policy_for, unreadable, with_learning_noted
from jpo.records import Known


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        yield opened


def decides(store: Store, explore: Literal["safe", "on"]) -> tuple[str, ...] | None:
    """Where the policy is released which would decide."""
    policy = policy_for(store, explore)
    return policy and policy.released


def test_the_stores_own_policy_decides_only_where_it_was_released(store: Store) -> None:
    shipped = load_policy().released
    assert shipped != ("on",)
    assert decides(store, "on") == shipped
    own = save_policy(*load_policy().members, released=("on",), card={})
    store.save_agent(POLICY, own, expected_version=0)
    assert decides(store, "on") == ("on",)
    assert decides(store, "safe") == shipped
    store.save_agent(POLICY, b"damaged", expected_version=1)
    assert decides(store, "on") == shipped


def test_a_policy_that_cannot_be_read_is_named_and_what_decides_meanwhile(store: Store) -> None:
    assert unreadable(store) == ""
    store.save_agent(POLICY, b"damaged", expected_version=0)
    assert unreadable(store).startswith("the policy that learnt here ")
    assert unreadable(store).endswith("what came with JPO decides")


def test_what_is_not_learnt_and_what_cannot_be_read_are_notes_with_their_codes(store: Store) -> None:
    store.save_agent(POLICY, b"damaged", expected_version=0)
    known = with_learning_noted(Known(()), store, "sac", ("JPO-W650",))
    assert known.evidence.codes == ("JPO-W650", "JPO-W636")
    assert known.evidence.notes[0].text.startswith("learning is off because torch is not installed")
    assert known.evidence.notes[1].text.endswith("what came with JPO decides; run `jpo learn`")
    assert with_learning_noted(Known(()), store, "belief") == Known(()), "which needs no policy"
