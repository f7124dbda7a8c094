"""Which policy may decide, of those that the store keeps and the one that came with JPO. Needs no torch, and learns nothing."""

from collections.abc import Iterable
from dataclasses import replace

from jpo.agent.alternatives.named import policy_named
from jpo.agent.budget import Explore
from jpo.agent.policy import Policy, load_policy, shipped_policy
from jpo.errors import StoreError
from jpo.history import Store
from jpo.learning.prequential import with_record
from jpo.records import Known, Note, PolicyName

AGENT, POLICY = "agent", "policy"
"""Names under which the store keeps what learns, and what was tested last."""
LEARNING: tuple[PolicyName, ...] = ("sac", "mc-dropout", "by-sla")
"""Policies that rest on what SAC learns here; the others decide as they were trained, or need no training."""
CACHE_TROUBLE = {"JPO-E506", "JPO-E601", "JPO-E602", "JPO-E603"}
"""Another process learnt at the same time, or the saved agent is unreadable: no reason to withhold a suggestion."""
NOT_LEARNT = {
    "JPO-W605": "the agent took in no new runs: another process did, or its state is damaged; "
    "`jpo learn --rebuild` makes it anew",
    "JPO-W650": "learning is off because torch is not installed, and nobody learns from these runs: "
    'pip install "jpo[learn]" (pipelines: the full image); if that is meant, [agent] learn_budget = "0s"',
}
"""Why a suggestion was made without learning from what is new, by reason code."""


def policy_for(store: Store, explore: Explore, name: PolicyName = "sac") -> Policy | None:
    """Policy that may decide. SAC: the store's own where released, else the shipped one; None if there is none.

    `name`: what the user wants instead of it; "belief" needs none.
    """
    if name == "belief":
        return None
    own = own_policy(store)
    if own and explore in own.released and not (judged := with_record(own, store)).withdrawn:
        return policy_named(name, judged)
    shipped = shipped_policy()
    return policy_named(name, shipped and with_record(shipped, store))


def own_policy(store: Store) -> Policy | None:
    """Policy that `jpo learn` tested last; None if there is nothing, or nothing readable: it is a cache, and learnt anew."""
    found = _own_policy(store)
    return None if isinstance(found, StoreError) else found


def unreadable(store: Store) -> str:
    """That the policy which `jpo learn` tested last cannot be read, and what decides meanwhile; "" where it can, or is none."""
    found = _own_policy(store)
    meanwhile = "until it is made anew, what came with JPO decides"
    return f"the policy that learnt here {found.finding}; {meanwhile}" if isinstance(found, StoreError) else ""


def with_learning_noted(known: Known, store: Store, name: PolicyName, not_learnt: Iterable[str] = ()) -> Known:
    """What is known, with a note for what the agent did not take in, and where the policy that learnt here cannot be read.

    `name`: who decides; the belief rule needs no policy. `not_learnt`: reason codes of NOT_LEARNT.
    """
    notes = [Note(code, NOT_LEARNT[code]) for code in not_learnt]
    if why := "" if name == "belief" else unreadable(store):
        notes.append(Note("JPO-W636", f"{why}; run `jpo learn`"))
    return replace(known, evidence=known.evidence.noting(notes))


def _own_policy(store: Store) -> Policy | StoreError | None:
    saved = store.load_agent(POLICY)
    try:
        return load_policy(saved[0]) if saved else None
    except StoreError as error:
        return error
