"""What following the agent has cost against always keeping: the account from which the budget of decide.py is paid."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from jpo.agent.preference import FAILURE_CHARGE
from jpo.agent.reward import objective, reward_vector
from jpo.records import Parameters, Preference, Run, same

REFERENCES = 3
"""Newest runs of the values which the agent found that say what keeping them costs: few, since jobs drift."""


def values_found(followed_up: Sequence[tuple[Run, Parameters]], now: Parameters) -> Parameters:
    """What would stand in config.ini, had the agent never changed it: the present values, unless they are its own work.

    So going back to what was left counts as no saving, and values which somebody else has set since are what the agent found.

    Args:
        followed_up: runs that followed a suggestion, with the values that it replaced, oldest first.
    """
    for run, replaced in reversed(followed_up):
        if not (same(now, run.parameters) or same(now, replaced)):
            break
        now = replaced
    return now


def relative_costs(
    followed_up: Sequence[tuple[Run, Parameters]], runs: Sequence[Run], preference: Preference, log_rate: Callable[[Run], float]
) -> tuple[float, ...]:
    """Cost of runs that followed a suggestion, each in multiples of what the values that the agent found would have cost.

    That is the geometric mean of their newest REFERENCES runs before it: one run's luck would count in every comparison. A run
    that did not end well counts FAILURE_CHARGE, or what it took if that is more. Where there is nothing to compare with, a run
    does not count.

    Args:
        followed_up: see `values_found`.
        runs: all of this workload, oldest first.
        log_rate: natural log of the price per hour of a run's configuration, against any one.
    """
    costs: list[float] = []
    alike: dict[tuple[tuple[str, float], ...], list[Run]] = {}
    for at, (run, replaced) in enumerate(followed_up):
        found = values_found(followed_up[:at], replaced)
        key = tuple(found.items())
        if key not in alike:
            alike[key] = [one for one in runs if one.ended_well and same(one.parameters, found)]
        before = [one for one in alike[key] if one.ended_at < run.ended_at][-REFERENCES:]
        if before:
            rate = log_rate(run) - log_rate(before[-1])  # they all ran the same values
            cost = _geometric_mean([float(objective(reward_vector(run, one, rate), preference)) for one in before])
            costs.append(cost if run.ended_well else max(FAILURE_CHARGE, 0.0 if math.isnan(cost) else cost))
    return tuple(cost for cost in costs if not math.isnan(cost))


def _geometric_mean(logs: Sequence[float]) -> float:
    """NaN where nothing was measured; beyond e^50 more is not worse."""
    known = [log for log in logs if not math.isnan(log)]
    return math.exp(min(sum(known) / len(known), 50.0)) if known else math.nan
