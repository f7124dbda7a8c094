"""Prequential record of a policy on real runs: whether what it departed for turned out as forecast.

It can withdraw a release, and never grants one: real runs are few, and show nothing of what the rule's choice would have cost.

Source: Dawid, "Present Position and Potential Developments: The Prequential Approach", JRSS A 1984.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from jpo.agent.policy import Policy
from jpo.history import Store
from jpo.records import AS_THE_RULE, HALF_WIDTH, OTHERWISE, Run, Suggestion
from jpo.wording import numbers

LAST = 200
"""Newest suggestions that are looked at."""
FEWEST = 10
"""Overrides and agreements with an outcome that are needed to judge, of each."""
LARGEST = 2.5
"""Standard deviations that one run counts at most, and a failed one counts always."""
CERTAIN = 2.33
"""Standard errors: noise alone withdraws a good policy in 1 of 100 looks."""


@dataclass(frozen=True, slots=True)
class PrequentialRecord:
    """Runs of changes that one policy made, where it departed from the rule and where it did as the rule would.

    An installation where all runs miss their forecasts, or fail, says nothing against overrides: the two are compared.
    `overrides`, `agreements`: standardised misses of ln duration, above 0: worse than forecast; a failed run has LARGEST.
    """

    overrides: tuple[float, ...]
    agreements: tuple[float, ...]

    @property
    def withdrawn(self) -> bool:
        """Whether overrides turn out worse against their forecasts than agreements, beyond chance."""
        if min(len(self.overrides), len(self.agreements)) < FEWEST:
            return False
        spread = max(1.0, pstdev((*self.overrides, *self.agreements)))
        error = spread * math.sqrt(1 / len(self.overrides) + 1 / len(self.agreements))
        return fmean(self.overrides) - fmean(self.agreements) > CERTAIN * error

    def __str__(self) -> str:
        times, failed = numbers.times(len(self.overrides)), sum(miss == LARGEST for miss in self.overrides)
        worse = fmean(self.overrides) - fmean(self.agreements)
        finding = f"its runs then missed their forecasts by {worse:.1f} standard deviations more than as the rule"
        return f"SAC decides no more: it departed from the rule {times}, {failed} of these runs failed, and {finding}"


def record_of(policy: Policy, store: Store) -> PrequentialRecord:
    """The prequential record of a policy, from the newest suggestions of all workloads."""
    digest = policy.digest
    changed = [each for each in store.suggestions_of(limit=LAST) if each.decision.policy == digest and each.status == "changed"]
    pairs = ((each, store.runs_following(each.suggestion_id)) for each in changed)
    return prequential_record((suggestion, runs[0]) for suggestion, runs in pairs if runs)


def prequential_record(pairs: Iterable[tuple[Suggestion, Run]]) -> PrequentialRecord:
    """The record of changes, each with the run that followed it."""
    judged = [(suggestion.codes, miss) for suggestion, run in pairs if (miss := _miss(suggestion, run)) is not None]
    overrides, agreements = (tuple(miss for codes, miss in judged if code in codes) for code in (OTHERWISE, AS_THE_RULE))
    return PrequentialRecord(overrides, agreements)


def _miss(suggestion: Suggestion, run: Run) -> float | None:
    """Standardised miss of the duration's forecast; None where there is nothing to compare."""
    forecast, seconds = suggestion.next.duration_seconds, run.outcome.duration_seconds
    if not run.ended_well:
        return LARGEST
    if forecast is None or not seconds:
        return None
    half_width = (math.log(forecast.high) - math.log(forecast.low)) / 2
    sd = max(half_width / HALF_WIDTH, 0.01)
    return max(-LARGEST, min(LARGEST, math.log(seconds / forecast.mean) / sd))


def with_record(policy: Policy, store: Store) -> Policy:
    """The policy, released nowhere where its record withdraws it."""
    if not policy.released:
        return policy
    record = record_of(policy, store)
    return replace(policy, released=(), withdrawn=str(record)) if record.withdrawn else policy
