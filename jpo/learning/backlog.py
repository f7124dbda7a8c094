"""Backlog: runs of a workload that the agent has not taken in yet. Needs no torch."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from jpo.agent.sealed import header_of, unseal_agent
from jpo.errors import StoreError
from jpo.history import Store
from jpo.learning.serving import AGENT, CACHE_TROUBLE
from jpo.optimizer.request import Request
from jpo.records import VAL_LOSS, Identity, Run

SOON_LEARNT = 20
"""Fewer runs than this may wait for a `jpo learn` that is scheduled elsewhere, before it is said that nobody learns."""
LEARNT_FROM = "the problem that was decided, and how the last forecasts were met"
"""What a transition holds; an agent that learnt from other states begins anew."""


def learnable(runs: Sequence[Run]) -> Sequence[Run]:
    """Runs to learn from: the first one that ended well, which is the reference, and all that came after it."""
    first = next((i for i, run in enumerate(runs) if run.ended_well and run.outcome.duration_seconds), len(runs))
    return runs[first:]


def fingerprint(runs: Sequence[Run], request: Request, learnt: int) -> str:
    """Digest of reference, next `learnt` runs, preference, SLA targets and what judges a model: an agent that learnt from other
    ones must begin anew.

    Runs that are reported late or gain measurements change what came before; the history is the truth, the agent a cache.
    """
    quality = () if request.wanted.quality == VAL_LOSS else (request.wanted.quality,)
    taught = tuple(learnable(runs)[: learnt + 1])
    text = repr((LEARNT_FROM, request.wanted.preference, taught, *sorted(request.wanted.targets.items()), *quality))
    return hashlib.sha256(text.encode()).hexdigest()


def waiting(header: Mapping[str, Any] | None, identity: Identity, runs: Sequence[Run], request: Request) -> int:
    """Number of runs of this workload that the saved agent has not taken in yet.

    `header`: what the agent says of itself; None: there is none.
    """
    learnt, history = header["progress"].get(str(identity), (0, "")) if header else (0, "")
    if history != fingerprint(runs, request, learnt):
        learnt = 0
    return max(0, len(learnable(runs)) - 1 - learnt)


def left_of(store: Store, identity: Identity, runs: Sequence[Run], request: Request) -> int:
    """Number of runs of this workload that the agent in the store has not taken in yet."""
    saved = store.load_agent(AGENT)
    return waiting(header_of(saved[0]) if saved else None, identity, runs, request)


def is_left_unlearnt(store: Store, identity: Identity, runs: Sequence[Run]) -> bool:
    """Whether runs wait to be learnt from, and not for a scheduled `jpo learn` elsewhere, which has learnt of their workload.

    Raises StoreError: the saved agent is damaged, or of another version.
    """
    saved = store.load_agent(AGENT)
    learnt, _ = unseal_agent(saved[0])[1]["progress"].get(str(identity), (0, "")) if saved else (0, "")
    in_all = max(0, len(learnable(runs)) - 1)
    return in_all - learnt >= SOON_LEARNT or 0 == learnt < in_all


def not_learnt(store: Store, identity: Identity, runs: Sequence[Run]) -> tuple[str, ...]:
    """What a suggestion says of learning that cannot follow it, as torch is missing.

    Returns JPO-W650 if nobody learns here, JPO-W605 if the saved agent could not be read; where torch is installed, nothing.
    """
    if find_spec("torch") is not None:
        return ()
    try:
        return ("JPO-W650",) if is_left_unlearnt(store, identity, runs) else ()
    except StoreError as error:
        if error.code not in CACHE_TROUBLE:
            raise
        return ("JPO-W605",)
