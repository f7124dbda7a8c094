"""Continuous learning: one agent takes in the runs of all workloads of a store, and the store keeps it.

The history is the truth, the agent a cache. torch is imported only when there is something to learn. Learning never puts a policy
in charge by itself; only `jpo learn` does, and only after the release test.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from jpo.agent.alternatives.named import policy_named
from jpo.agent.policy import Policy, load_policy, shipped_policy
from jpo.agent.sealed import header_of
from jpo.errors import StoreError, UsageError
from jpo.history import AuditEvent, Store
from jpo.history.followed import followers
from jpo.learning.experience import experiences, fingerprint, learnable
from jpo.learning.own_history import OwnHistory
from jpo.learning.prequential import with_record
from jpo.learning.resets import due
from jpo.optimizer.request import Request
from jpo.records import Identity, Known, PolicyName, Run

if TYPE_CHECKING:
    from jpo.agent.problem import Explore
    from jpo.agent.sac.learn import AgentState

AGENT, POLICY = "agent", "policy"
"""Names under which the store keeps what learns, and what was tested last."""
LEARNING: tuple[PolicyName, ...] = ("sac", "mc-dropout", "by-sla")
"""Policies that rest on what SAC learns here; the others decide as they were trained, or need no training."""
CACHE_TROUBLE = {"JPO-E506", "JPO-E601", "JPO-E602", "JPO-E603"}
"""Another process learnt at the same time, or the saved agent is unreadable: no reason to withhold a suggestion."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """Result of one round of learning: runs of the workload taken in now, runs of all workloads taken in altogether, gradient
    steps since the agent began, runs left, how often it began anew because the world had changed, and forks played now from the
    states before its runs."""

    runs: int
    runs_in_all: int
    updates: int
    left: int
    resets: int
    forks: int = field(default=0, compare=False)


def policy_for(store: Store, explore: Explore, name: PolicyName = "sac") -> Policy | None:
    """Policy that may decide. SAC: the store's own where released, else the shipped one; None if there is none.

    Args:
        name: what the user wants instead of it; "belief" needs none.
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
    saved = store.load_agent(POLICY)
    try:
        return load_policy(saved[0]) if saved else None
    except StoreError:
        return None


def need_torch() -> None:
    """Learning needs torch, suggesting does not."""
    if find_spec("torch") is None:
        raise UsageError("learning", "torch is not installed", 'pip install "jpo[learn]"', code="JPO-E604")


def keep_up(
    store: Store,
    identity: Identity,
    known: Known,
    request: Request,
    *,
    seconds: float,
    now: float,
    seed: int,
) -> tuple[str, ...]:
    """Learning inside `jpo suggest`: of what is new, if anything is, torch is there and the user left time for it.

    Returns:
        JPO-W605 for the report if the agent could not be read or saved; else nothing.
    """
    try:
        if seconds > 0 and find_spec("torch") is not None and waiting(store, identity, known.runs, request) > 0:
            catch_up(store, identity, known, request, seed=seed, now=now, budget_seconds=seconds)
    except StoreError as error:
        if error.code not in CACHE_TROUBLE:
            raise
        return ("JPO-W605",)
    return ()


def waiting(store: Store, identity: Identity, runs: Sequence[Run], request: Request) -> int:
    """Number of runs of this workload that the agent has not taken in yet; imports no torch."""
    saved = store.load_agent(AGENT)
    progress = header_of(saved[0]).get("progress") if saved else None
    learnt, history = progress.get(str(identity), (0, "")) if isinstance(progress, dict) else (0, "")
    if history != fingerprint(runs, request, learnt):
        learnt = 0
    return max(0, len(learnable(runs)) - 1 - learnt)


def catch_up(
    store: Store,
    identity: Identity,
    known: Known,
    request: Request,
    *,
    seed: int,
    now: float,
    budget_seconds: float | None,
) -> Learnt:
    """Take in the runs of a workload that are new to the agent, oldest first, until the budget is used up; save it, on record.

    What it learnt of this workload from a history which is no longer on record in that order, or under another preference, is
    forgotten and learnt anew.

    Args:
        known: the workload's runs, and the residuals of the other jobs here, on whose like it practises.
        budget_seconds: None: networks begin anew, and take as long as it takes.

    Raises:
        UsageError: JPO-E604, torch is not installed.
        StoreError: the saved agent is damaged, or another process saved one meanwhile.
    """
    need_torch()
    runs, residuals = known.runs, known.residuals
    import torch

    from jpo.agent.sac.checkpoint import save_checkpoint
    from jpo.agent.sac.learn import WorkloadProgress, learn

    rebuild = budget_seconds is None
    seconds = float("inf") if budget_seconds is None else budget_seconds
    deadline = time.monotonic() + seconds  # importing torch takes seconds on a busy machine
    torch.set_num_threads(1)  # faster than two on networks this small, and the same result everywhere
    saved, name = store.load_agent(AGENT), str(identity)
    agent = _agent(None if rebuild or not saved else saved[0], seed)
    progress = agent.progress.get(name, WorkloadProgress())
    if progress.history != fingerprint(runs, request, progress.runs):
        agent.real.forget(name)
        progress = WorkloadProgress()
    after_suggestions = followers(store, store.recorded_runs(identity))
    new = experiences(runs, request, seed=seed, first=progress.runs, followers=after_suggestions, residuals=residuals)
    history = OwnHistory(new, residuals)
    begin_anew = due(learnable(runs)[progress.runs :], request)
    taken = learn(
        agent,
        history.transitions(),
        history.practise,
        workload=name,
        out_of_time=lambda: time.monotonic() > deadline,
        start=shipped_policy(),
        begin_anew=begin_anew,
    )
    done = progress.runs + taken
    agent.progress[name] = WorkloadProgress(done, fingerprint(runs, request, done))
    left = max(0, len(learnable(runs)) - 1 - done)
    in_all = sum(each.runs for each in agent.progress.values())
    learnt = Learnt(taken, in_all, agent.updates, left, agent.resets, history.forks)
    if taken or rebuild:
        event, version = AuditEvent("learnt", now, identity, {**asdict(learnt), "rebuilt": rebuild}), saved[1] if saved else 0
        store.save_agent(AGENT, save_checkpoint(agent), expected_version=version, event=event)
    return learnt


def _agent(saved: bytes | None, seed: int) -> AgentState:
    """The saved agent, else one that knows what the shipped policy knows."""
    from jpo.agent.sac.checkpoint import load_checkpoint
    from jpo.agent.sac.learn import new_agent

    return load_checkpoint(saved) if saved is not None else new_agent(seed, start=shipped_policy())


def untested(store: Store) -> bool:
    """Whether the saved agent has learnt something since its policy was put to the release test."""
    agent, policy = store.load_agent(AGENT), own_policy(store)
    if agent is None:
        return False
    return policy is None or policy.card.get("learnt") != progress_of(header_of(agent[0]))


def progress_of(header: Mapping[str, Any]) -> list[int]:
    """Progress of an agent, by which its states are distinguished: runs, resets and updates only grow."""
    runs = sum(runs for runs, _ in header["progress"].values())
    return [int(runs), int(header["resets"]), int(header["updates"][0])]
