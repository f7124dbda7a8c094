"""Decision problem: all that belief rule, SAC and explanation read, in one record.

Acquisition values and the set of what may be tried follow from it, and are computed once. It chooses nothing; `decide` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.agent.acquisition import AcquisitionValues, acquisition_values, clearly_better, p_beyond
from jpo.agent.budget import BUDGET
from jpo.agent.context import UNKNOWN, Context

if TYPE_CHECKING:
    from jpo.records import Belief, Bools, Candidates, Preference

Explore = Literal["off", "safe", "on"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Decision problem: what is known, wanted and allowed at the moment of a decision.

    Attributes:
        candidates: the configurations between which is chosen; what may not be proposed is not admissible.
        belief: the posterior over them after the runs so far.
        preference: what time, cost, efficiency and loss are worth.
        reference: row of the values before the agent's first change, against whose validation loss a model is worse; None =
            today's.
        interval_factor: factor of the calibration watch, at least 1: by how much the belief was too sure of itself.
        explore: see `decide`.
        confidence: probability, in 0..1, with which a tried candidate must not cost more than what is left of the budget.
        budget: how many runs of today's configuration exploring may cost in 20 runs.
        budget_left: what is left of it, and of what was saved; negative when it is overspent.
        exploration_runs_left: how many configurations are still to be tried, even where none is expected to pay off.
        context: what else is known of the next run.
    """

    candidates: Candidates
    belief: Belief
    preference: Preference
    reference: int | None = None
    interval_factor: float = 1.0
    explore: Explore = "safe"
    confidence: float = 0.9
    budget: float = BUDGET
    budget_left: float = BUDGET
    exploration_runs_left: int = 0
    context: Context = UNKNOWN

    def under(self, *, explore: Explore | None = None, context: Context | None = None) -> Problem:
        """The same problem with another boldness or in another context; the candidates are not weighed again."""
        other = replace(self, explore=explore or self.explore, context=context or self.context)
        vars(other)["weighed"] = self.weighed
        return other

    @cached_property
    def weighed(self) -> AcquisitionValues:
        """Acquisition values where it is not known how many runs follow."""
        return acquisition_values(
            self.belief, self.candidates, self.preference, interval_factor=self.interval_factor, reference=self.reference
        )

    @cached_property
    def acquisition(self) -> AcquisitionValues:
        """Acquisition values, by which candidates are compared, with the horizon of the runs that follow."""
        return self.weighed.within(self.context.horizon)

    @property
    def only_measured(self) -> bool:
        """Whether nothing new may be tried: the user does not want it, or the budget is overspent."""
        return self.explore == "off" or self.budget_left < 0

    @cached_property
    def allowed(self) -> Bools:
        """Rows that may be run next, shape (K,): the best known one alone, or what `may_try` says."""
        if self.only_measured:
            return np.equal(np.arange(len(self.candidates.values)), known_best(self))
        return may_try(self)


def may_try(problem: Problem) -> Bools:
    """Rows that may be run next under `explore` "safe" or "on", shape (K,): admissible ones, today's and the incumbent always.

    Where none of these is left, since today's values break the SLA, something must be run: the one of least risk.
    """
    rows = problem.candidates.admissible
    if problem.explore == "on":
        return rows
    risk = p_beyond(
        problem.belief,
        problem.candidates,
        problem.preference,
        max(problem.budget_left, 0.0),
        interval_factor=problem.interval_factor,
        reference=problem.reference,
    )
    safe = risk <= 1 - problem.confidence
    safe[[problem.candidates.current, problem.acquisition.incumbent]] = True
    allowed: Bools = rows & safe
    return allowed if allowed.any() else rows & (risk <= risk.min(where=rows, initial=1.0))


def known_best(problem: Problem) -> int:
    """The incumbent if it is better than today, or today is not admissible.

    Better means: in expectation, and either confirmed by a second run or by more than the noise of the two means, or than values
    that have only ever failed.
    """
    belief, acquisition = problem.belief, problem.acquisition
    now, best = problem.candidates.current, acquisition.incumbent
    broken = belief.failures[now] > 0 and belief.runs[now] == 0
    sure = broken or belief.runs[best] > 1 or clearly_better(belief, acquisition.mean, best, now)
    better = sure and acquisition.expected[best] < acquisition.expected[now]
    return best if better or not problem.candidates.admissible[now] else now
