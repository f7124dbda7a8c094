"""Continuous learning: the runs of the history become transitions, the agent takes them in, and the store keeps it.

The history is the truth, the agent a cache: rebuilt from the same runs it is the same agent. torch is imported only when there is
something to learn. Learning never puts a policy in charge by itself; only `jpo learn` does, and only after the release test.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from jpo.advisor import PARTICLES, Wishes, collect, row_of
from jpo.agent.decide import may_try
from jpo.agent.policy import SHIPPED, Policy, load_policy, save_policy
from jpo.agent.prospects import prospects
from jpo.agent.release import Release
from jpo.agent.replay_buffer import Transition
from jpo.agent.reward import failed_like, objective, reward_vector
from jpo.agent.sealed import header_of
from jpo.agent.state import Observation, observe
from jpo.errors import UsageError
from jpo.forecast import posterior
from jpo.history import AuditEvent, Store
from jpo.practice import TEST_SEED, Track, practise_with, release_test
from jpo.records import Candidates, Identity, Run, RunStatus
from jpo.simulate import draw_jobs

if TYPE_CHECKING:
    from jpo.agent.decide import Explore
    from jpo.records import Floats

RELEASE_JOBS = 100
"""Fresh simulated jobs in the release test after learning: some ten seconds; the shipped policy stood a longer one."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What one round of learning did: runs taken in now, runs taken in altogether, gradient steps altogether."""

    runs: int
    runs_in_all: int
    updates: int


def policy_in(store: Store, identity: Identity) -> Policy | None:
    """The policy that may decide for this workload: its own released one, else the shipped one; None if there is none."""
    own = store.load_agent(f"policy {identity}")
    if own:
        return load_policy(own[0])
    return load_policy() if SHIPPED.exists() else None


def need_torch() -> None:
    """Learning needs torch, suggesting does not."""
    if find_spec("torch") is None:
        raise UsageError("learning", "torch is not installed", 'pip install "jpo[learn]"', code="JPO-E604")


def waiting(store: Store, identity: Identity, runs: Sequence[Run]) -> int:
    """How many runs the agent of this workload has not taken in yet; imports no torch."""
    reference = reference_of(runs)
    saved = store.load_agent(f"agent {identity}")
    learnt = int(header_of(saved[0])["runs_learnt"]) if saved else 0
    return 0 if reference is None else max(0, len(runs) - reference - 1 - learnt)


def catch_up_if_possible(
    store: Store, identity: Identity, runs: Sequence[Run], wishes: Wishes, budget_seconds: float, seed: int, *, now: float
) -> None:
    """Inside `jpo suggest`: learn what is new, if anything is, torch is there and the user left time for it."""
    if budget_seconds > 0 and waiting(store, identity, runs) > 0 and find_spec("torch") is not None:
        learnt = catch_up(store, identity, runs, wishes, seed=seed, budget_seconds=budget_seconds)
        store.audit(AuditEvent("learnt", now, identity, {"runs": learnt.runs, "updates": learnt.updates, "released": False}))


def catch_up(
    store: Store,
    identity: Identity,
    runs: Sequence[Run],
    wishes: Wishes,
    *,
    seed: int,
    budget_seconds: float,
    rebuild: bool = False,
) -> Learnt:
    """Take in the runs that are new to the agent, oldest first, until the budget is used up; save it.

    Raises:
        UsageError: JPO-E604, torch is not installed.
        StoreError: the saved agent is damaged, or another process saved one meanwhile.
    """
    deadline = time.monotonic() + budget_seconds
    need_torch()
    import torch

    from jpo.agent.checkpoint import load_checkpoint, save_checkpoint
    from jpo.agent.learn import learn, new_agent

    torch.set_num_threads(1)  # faster than two on networks this small, and the same result everywhere
    saved = store.load_agent(f"agent {identity}")
    start = load_policy() if SHIPPED.exists() else None
    agent = load_checkpoint(saved[0]) if saved and not rebuild else new_agent(seed, start=start)
    transitions = transitions_of(runs, wishes, seed=seed, first=agent.runs_learnt)
    taken = learn(agent, transitions, practise_with, out_of_time=lambda: time.monotonic() > deadline)
    if taken or rebuild:
        store.save_agent(f"agent {identity}", save_checkpoint(agent), expected_version=saved[1] if saved else 0)
    return Learnt(taken, agent.runs_learnt, agent.learner.updates)


def release(store: Store, identity: Identity, track: Track) -> dict[Explore, Release]:
    """Put the saved agent's policy to the release test; where it passes, it decides from now on.

    Raises:
        StoreError: there is no agent, or another process released one meanwhile.
    """
    from jpo.agent.checkpoint import load_checkpoint
    from jpo.agent.learn import policy_of

    saved, known = store.load_agent(f"agent {identity}"), store.load_agent(f"policy {identity}")
    assert saved is not None
    policy = policy_of(load_checkpoint(saved[0]))
    results = release_test(policy, track(range(TEST_SEED, TEST_SEED + RELEASE_JOBS), "release test"))
    passed = [explore for explore, result in results.items() if result.passed]
    if passed:
        card = {explore: asdict(result) for explore, result in results.items()}
        file = save_policy(policy.weights, released=passed, card={"release_test": card})
        store.save_agent(f"policy {identity}", file, expected_version=known[1] if known else 0)
    return results


def transitions_of(runs: Sequence[Run], wishes: Wishes, *, seed: int, first: int) -> Iterator[Transition]:
    """Every run after the first one that ended well as the agent would have seen it, from number `first` on."""
    reference = reference_of(runs)
    if reference is not None:
        for i in range(reference + 1 + first, len(runs)):
            yield transition(runs, reference, i, wishes, seed)


def reference_of(runs: Sequence[Run]) -> int | None:
    """The first run that ended well: what all later ones are compared with."""
    return next((i for i, run in enumerate(runs) if ended_well(run)), None)


def transition(runs: Sequence[Run], reference: int, i: int, wishes: Wishes, seed: int) -> Transition:
    """Run `i` with what was believed before and after it. What a run did not report had the reference run's value."""
    today = {**runs[reference].parameters, **runs[i - 1].parameters}
    candidates = collect(today, runs[: i + 1], wishes, also=None)
    executed = row_of(candidates, {**today, **runs[i].parameters})
    draws = draw_jobs(candidates, PARTICLES, np.random.default_rng(seed))

    def look(known: Sequence[Run], current: int, *always: int) -> Observation:
        belief = posterior(draws, candidates, known)
        moved = replace(candidates, current=current)
        promise = prospects(belief, moved, wishes.preference)
        allowed = may_try(promise, moved, wishes.explore, wishes.confidence)
        return observe(belief, moved, wishes.preference, promise, allowed, *always)

    before = look(runs[:i], candidates.current, executed)
    vectors = [vector_of(run, runs[reference], candidates) for run in runs[reference : i + 1]]
    best = float(np.nanmin([objective(vector, wishes.preference) for vector in vectors]))
    after = look(runs[: i + 1], executed)
    return Transition(before, before.index(executed), vectors[-1], wishes.preference, best, after)


def vector_of(run: Run, reference: Run, candidates: Candidates) -> Floats:
    """What a run was worth against the reference run."""

    def rate(one: Run) -> float:
        values = {**candidates.parameters(candidates.current), **one.parameters}
        return float(candidates.log_rate[row_of(candidates, values)])

    if not ended_well(run):
        return failed_like(np.zeros(5))
    return reward_vector(run, reference, rate(run) - rate(reference))


def ended_well(run: Run) -> bool:
    """It succeeded, reached its target if it had one, and its duration is known."""
    return run.status is RunStatus.SUCCEEDED and run.outcome.converged is not False and bool(run.outcome.duration_seconds)
