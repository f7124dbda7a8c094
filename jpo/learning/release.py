"""Release of a policy: it decides only if, on fresh jobs, it is not worse than the belief rule, which needs no training.

The result goes on record with the policy that it speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from jpo.agent.policy import Policy, save_policy
from jpo.agent.sealed import header_of
from jpo.history import AuditEvent, Json, Store
from jpo.learning.continual import progress_of
from jpo.learning.job import DOMAINS
from jpo.learning.practice import Track, by_belief_rule, by_policy, mean_cost
from jpo.records import Identity

THRESHOLD = 1.01
"""Not worse than the belief rule by more than one percent; set before any policy was trained, never tuned to let one pass."""
CERTAINTY = 1.96
"""Standard errors: the whole 95% interval must be below the threshold (a non-inferiority test), so that luck releases none."""
TESTED = ("safe", "on", *DOMAINS)
"""The jobs of a release test go round these: what most users have is tested twice as often."""
RELEASE_JOBS = 630
"""Simulated jobs in the release test after learning, spread over the domains: about two minutes of one core."""
RELEASE_SEED = 100_000_000
"""Their seeds start here, far from those that the shipped policy met; each number of runs has jobs of its own."""


@dataclass(frozen=True, slots=True)
class Release:
    """Result of the release test under one setting of `explore`.

    Attributes:
        jobs: fresh simulated jobs, the same for both.
        policy, rule: mean cost per run in multiples of the optimum's (1.0 = the best configuration from the first run on).
        ratio: policy / rule.
        standard_error: of the ratio, over jobs.
    """

    jobs: int
    policy: float
    rule: float
    ratio: float
    standard_error: float

    @property
    def passed(self) -> bool:
        return self.ratio + CERTAINTY * self.standard_error <= THRESHOLD


def compare(policy_costs: Sequence[float], rule_costs: Sequence[float]) -> Release:
    """Judge costs per job, paired: the same jobs in the same order, each the mean over its runs in multiples of the optimum's."""
    policy, rule = np.array(policy_costs), np.array(rule_costs)
    assert policy.shape == rule.shape
    assert len(policy) > 1
    ratio = policy.mean() / rule.mean()
    spread = np.std(policy - ratio * rule, ddof=1) / rule.mean()  # delta method
    return Release(len(policy), float(policy.mean()), float(rule.mean()), float(ratio), float(spread / np.sqrt(len(policy))))


def release_test(policy: Policy, seeds: Iterable[int]) -> dict[str, Release]:
    """Play the same fresh jobs, one per seed, with the policy and with the belief rule; one result for each of
    DOMAINS that had two jobs or more."""
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in DOMAINS}
    for seed in seeds:
        name = TESTED[seed % len(TESTED)]
        costs[name].append((mean_cost(seed, name, partial(by_policy, policy)), mean_cost(seed, name, by_belief_rule)))
    return {name: compare(*zip(*pairs, strict=True)) for name, pairs in costs.items() if len(pairs) > 1}


def released_for(results: dict[str, Release]) -> list[str]:
    """Names of the domains in which the policy may decide: whether a job drifts is not known beforehand, so a policy that is
    worse when it does, or was not tested there, decides nowhere."""
    drifts = "drift" in results and results["drift"].passed
    return [name for name, result in results.items() if result.passed and drifts]


def release_if_passed(store: Store, identity: Identity, track: Track, *, now: float) -> dict[str, Release]:
    """Put the saved agent's policy to the release test on jobs it never met; where it passes, it decides from now on.

    The result goes on record with the policy that it speaks of.

    Raises:
        StoreError: another process released one meanwhile.
    """
    from jpo.agent.sac.checkpoint import load_checkpoint
    from jpo.agent.sac.learn import policy_of

    saved, before = store.load_agent(f"agent {identity}"), store.load_agent(f"policy {identity}")
    assert saved is not None
    policy, learnt = policy_of(load_checkpoint(saved[0])), progress_of(header_of(saved[0]))
    start = RELEASE_SEED + learnt[0] * RELEASE_JOBS
    results = release_test(policy, track(range(start, start + RELEASE_JOBS), "release test"))
    card = {"learnt": learnt, "release_test": {name: asdict(result) for name, result in results.items()}}
    released = released_for(results)
    file = save_policy(policy.weights, released=released, card=card)
    event = tested(identity, policy.digest, results, released, now)
    store.save_agent(f"policy {identity}", file, expected_version=before[1] if before else 0, event=event)
    return results


def tested(identity: Identity, digest: str, results: Mapping[str, Release], released: Sequence[str], now: float) -> AuditEvent:
    """Result of a release test for the audit log: where the policy decides from now on, and by which figures."""
    figures: dict[str, Json] = {name: {**asdict(result), "passed": result.passed} for name, result in results.items()}
    return AuditEvent("tested", now, identity, {"policy": digest, "released": list(released), "results": figures})
