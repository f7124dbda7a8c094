"""May this policy decide? Only if, on fresh jobs, it is not worse than the belief rule, which needs no training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

THRESHOLD = 1.01
"""Not worse than the belief rule by more than one percent; set before any policy was trained, never tuned to let one pass."""
CERTAINTY = 1.96
"""Standard errors: the whole 95% interval must lie below the threshold (a non-inferiority test), lest luck release a policy."""


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
