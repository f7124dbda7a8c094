"""Prequential record of a policy on real runs: whether what it departed for turned out as forecast.

It can withdraw a release, and never grants one: real runs are few, and show nothing of what the rule's choice would have cost.

Source: Dawid, "Present Position and Potential Developments: The Prequential Approach", JRSS A 1984.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from jpo.agent.policy import Policy
from jpo.history import Store
from jpo.wording import numbers

if TYPE_CHECKING:
    from jpo.records import Interval, Run, Suggestion

DEPARTED = "JPO-I631"
LAST = 200
"""Newest suggestions that are looked at."""
FEWEST = 5
"""Departures with an outcome that are needed to judge."""
LARGEST = 2.5
"""Standard deviations that one departure counts at most, and a failed one counts always."""
CERTAIN = 2.33
"""Standard errors: noise alone withdraws a good policy in 1 of 100 looks."""
OF_90_PERCENT = 1.645


@dataclass(frozen=True, slots=True)
class PrequentialRecord:
    """Departures of one policy with a finished run: how many, how many failed, and how far they missed their forecasts.

    Attributes:
        miss: mean of the standardised misses of ln duration; above 0: worse than forecast.
    """

    departures: int
    failed: int
    miss: float

    @property
    def withdrawn(self) -> bool:
        """Whether its departures turn out worse than forecast, beyond chance."""
        return self.departures >= FEWEST and self.miss * math.sqrt(self.departures) > CERTAIN

    def __str__(self) -> str:
        failed = f"{self.failed} of them failed" if self.failed else "none of them failed"
        missed = f"their runs missed the forecasts by {self.miss:.1f} standard deviations on average"
        return f"SAC decides no more: it departed from the rule {numbers.times(self.departures)}, {failed}, and {missed}"


def record_of(policy: Policy, store: Store) -> PrequentialRecord:
    """The prequential record of a policy, from the newest suggestions of all workloads."""
    digest = policy.digest
    made = (each for each in store.suggestions_of(limit=LAST) if each.policy == digest and DEPARTED in each.codes)
    return prequential_record(
        (suggestion, runs[0]) for suggestion in made if (runs := store.runs_following(suggestion.suggestion_id))
    )


def prequential_record(pairs: Iterable[tuple[Suggestion, Run]]) -> PrequentialRecord:
    """The record of departures, each with the run that followed it."""
    judged = [(run.ended_well, miss) for suggestion, run in pairs if (miss := _miss(suggestion, run)) is not None]
    misses = [miss for _, miss in judged]
    return PrequentialRecord(len(judged), sum(not well for well, _ in judged), fmean(misses) if misses else 0.0)


def _miss(suggestion: Suggestion, run: Run) -> float | None:
    """Standardised miss of the duration's forecast; None where there is nothing to compare."""
    forecast, seconds = suggestion.next.duration_seconds, run.outcome.duration_seconds
    if not run.ended_well:
        return LARGEST
    if forecast is None or not seconds:
        return None
    sd = max(_half_width(forecast) / OF_90_PERCENT, 0.01)
    return max(-LARGEST, min(LARGEST, math.log(seconds / forecast.mean) / sd))


def _half_width(interval: Interval) -> float:
    return (math.log(interval.high) - math.log(interval.low)) / 2


def with_record(policy: Policy, store: Store) -> Policy:
    """The policy, released nowhere where its record withdraws it."""
    if not policy.released:
        return policy
    record = record_of(policy, store)
    return replace(policy, released=(), withdrawn=str(record)) if record.withdrawn else policy
