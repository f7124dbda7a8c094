"""Budget of exploring: what following the agent has cost against always keeping, and what is left to spend."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from jpo.agent.preference import FAILURE_CHARGE
from jpo.agent.reward import objective, reward_vector
from jpo.records import Floats, Parameters, Preference, Run, same

REFERENCES = 3
"""Newest runs that say what values cost, and stand as evidence for it: few, since jobs drift."""
BUDGET_RUNS = 20
BUDGET = 2.0
"""Over the last 20 runs exploring may cost two reference runs in total (10%) more than always keeping; then only what is known.
Against one: 2% less after 10, 20 and 40 simulated runs, .3 to .5% less on recorded jobs, harm equal."""
SHARE = 0.5
"""Most of the budget that one trial uses up, however it ended: a single bad one must not end learning for 20 runs."""
FIRST_TRIALS = 5
"""Trials that a job of fewer than BUDGET_RUNS runs may make: there is most to learn."""
Explore = Literal["off", "safe", "on"]
Goal = Literal["recurring", "search"]
"""What counts: what all runs cost, or what the best of them is worth (agent/search)."""


@dataclass(frozen=True, slots=True)
class Boldness:
    """Boldness of the agent: what may be tried, and what that may cost.

    Attributes:
        explore: see `decide`.
        confidence: probability, in 0..1, with which a tried candidate must not cost more than what is left of the budget.
        min_confidence: least chance to be better with which a change is an improvement under "safe", in 0..1; everything else is
            a trial. 0: no limit but the budget, as in the library.
        budget: how many runs of today's configuration exploring may cost in 20 runs.
        trials: share of runs that may be trials; 0: none.
        nightly: whether runs are the nights of a pipeline: what a trial lost is forgotten with time, and `explore` "on" asks for
            something untried.
        exploration_runs: how many configurations besides the first are to be tried, even where none is expected to pay off.
        baseline_left: runs with today's values that are waited for before the first change, so that there is a "before".
        fallback: values of which no run ended well are left for those of which one did; where none did, for these, the first
            ones, as far as they are known. None: they are not left for that alone.
    """

    explore: Explore = "safe"
    confidence: float = 0.9
    min_confidence: float = 0.0
    budget: float = BUDGET
    trials: float = 0.0
    nightly: bool = False
    exploration_runs: int = 0
    baseline_left: int = 0
    fallback: Parameters | None = None
    goal: Goal = "recurring"

    @property
    def chance_of_more(self) -> float:
        """Largest chance with which a candidate may cost more than is tolerated."""
        return 1 - self.confidence


@dataclass(frozen=True, slots=True)
class Leeway:
    """Leeway of exploring: what is left of it.

    Attributes:
        budget_left: what is left of the budget of exploring, and of what was saved; negative when it is overspent.
        exploration_runs_left: how many configurations are still to be tried, even where none is expected to pay off.
        trials_earned, trials_made: how many of the newest runs may be trials under "safe", and how many were.
        unproven: today's values are a trial of which no run ended well: anything that did is gone back to.
    """

    budget_left: float = BUDGET
    exploration_runs_left: int = 0
    trials_earned: float = math.inf
    trials_made: int = 0
    unproven: bool = False

    @property
    def used_up(self) -> bool:
        return self.trials_earned - self.trials_made < 1

    @property
    def overspent(self) -> bool:
        return self.budget_left < 0


def trials_earned(runs: int, share: float) -> float:
    """How many of the newest BUDGET_RUNS runs may be trials: FIRST_TRIALS of a young job, later a share; without one none."""
    later = share * BUDGET_RUNS
    return max(FIRST_TRIALS, later) if runs < BUDGET_RUNS and share else later


def reference_values(followed_up: Sequence[tuple[Run, Parameters]], now: Parameters) -> Parameters:
    """Values of config.ini, had the agent never changed it: the present values, unless they are its own work.

    So going back to what was left counts as no saving, and values which somebody else has set since are the reference.
    `followed_up`: runs that followed a suggestion, with the values that it replaced, oldest first.
    """
    for run, replaced in reversed(followed_up):
        if not (same(now, run.parameters) or same(now, replaced)):
            break
        now = replaced
    return now


def compared_costs(
    followed_up: Sequence[tuple[Run, Parameters]], runs: Sequence[Run], preference: Preference, log_rate: Callable[[Run], float]
) -> tuple[tuple[float, int], ...]:
    """Cost of runs that followed a suggestion, each in multiples of what the reference values would have cost, and how many runs
    of this workload have ended since. Where there is nothing to compare with, a run does not count.

    That is the geometric mean of their newest REFERENCES runs before it: one run's luck would count in every comparison. A run
    that did not end well counts FAILURE_CHARGE, or what it took if that is more.

    `followed_up`: see `reference_values`; `runs`: all of this workload, oldest first; `log_rate`: natural log of the price per
    hour of a run's configuration, against any one.
    """
    compared: list[tuple[Run, list[Floats]]] = []
    ends = [run.ended_at for run in runs]
    alike: dict[tuple[tuple[str, float], ...], list[Run]] = {}
    for at, (run, replaced) in enumerate(followed_up):
        reference = reference_values(followed_up[:at], replaced)
        key = tuple(reference.items())
        if key not in alike:
            alike[key] = [other for other in runs if other.ended_well and same(other.parameters, reference)]
        before = [other for other in alike[key] if other.ended_at < run.ended_at][-REFERENCES:]
        if before:
            rate = log_rate(run) - log_rate(before[-1])  # they all ran the same values
            compared.append((run, [reward_vector(run, other, rate, by_energy=preference.energy > 0) for other in before]))
    vectors = [vector for _, some in compared for vector in some]
    logs = iter(objective(np.stack(vectors), preference).tolist() if vectors else ())
    costs: list[tuple[float, int]] = []
    for run, some in compared:
        finite = [log for log in islice(logs, len(some)) if not math.isnan(log)]
        cost = math.exp(min(sum(finite) / len(finite), 50.0)) if finite else math.nan  # beyond e^50 more is not worse
        if not run.ended_well:
            cost = max(FAILURE_CHARGE, 0.0 if math.isnan(cost) else cost)
        if not math.isnan(cost):
            costs.append((cost, sum(end > run.ended_at for end in ends)))
    return tuple(costs)


def budget_left(relative: Sequence[float], budget: float = BUDGET) -> float:
    """How many runs of today's configuration exploring may still cost, given the costs of the last runs in multiples of it."""
    return budget - sum(ratio - 1 for ratio in relative[-BUDGET_RUNS:])


def replenished_budget(costs: Sequence[tuple[float, int]], budget: float = BUDGET) -> float:
    """The same for a job in use, from `compared_costs`: what a trial lost counts for SHARE of the budget at most, and less with
    every run since. So the budget grows again by what was saved and with time: kept nights earn the next trial."""
    recent = [(cost - 1, 1 - age / BUDGET_RUNS) for cost, age in costs if age < BUDGET_RUNS]
    return budget - sum(min(loss, SHARE * budget) * weight for loss, weight in recent)
