"""Decision problem: all that belief rule, SAC and explanation read. It chooses nothing; `decide` does."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from jpo.agent.acquisition import AcquisitionValues, knowledge_gradient, log_ratios
from jpo.agent.budget import Boldness, Explore, Leeway
from jpo.agent.comparison import Comparison
from jpo.agent.context import UNKNOWN, Context
from jpo.agent.safety.confidence import LIKELIER
from jpo.agent.safety.exploration import Exploration
from jpo.agent.safety.vetoes import Veto, held
from jpo.agent.search.search_values import SearchValues
from jpo.records import Belief, Bools, Candidates, RuleApplied


@dataclass(frozen=True, eq=False)
class Problem:
    """Decision problem: what is known, wanted and allowed at the moment of a decision.

    Attributes:
        comparison: the candidates, weighed against each other.
        boldness: what may be tried; leeway: what is left of that.
        context: what else is known of the next run.
        search: of a search, what it promises; None: the job recurs.
        holds: what keeps candidates from being run now, besides the guard. Those that last are not admissible any more.
    """

    comparison: Comparison
    boldness: Boldness = field(default_factory=Boldness)
    leeway: Leeway = field(default_factory=Leeway)
    context: Context = UNKNOWN
    holds: tuple[Veto, ...] = ()
    search: SearchValues | None = None

    @property
    def candidates(self) -> Candidates:
        return self.comparison.candidates

    @property
    def belief(self) -> Belief:
        return self.comparison.belief

    def under(self, explore: Explore) -> Self:
        return replace(self, boldness=replace(self.boldness, explore=explore))

    @cached_property
    def acquisition(self) -> AcquisitionValues:
        """Acquisition values, by which candidates are compared, with the horizon of the runs that follow.

        Where these are counted, `explore` "on" weighs what a run costs against what it saves in all of them by what it tells.
        What was tried is no choice then where it never ended well, or is likelier than not worse than LOSS_TOLERANCE: a trial
        may miss the quality floor, and shows it.
        """
        weighed = self.comparison.weighed.within(self.context.horizon)
        if not self.counts_runs:
            return weighed
        log_ratio = log_ratios(self.comparison.objective, weighed.incumbent)
        kept = self.comparison.p_loss_kept_closely
        usable = self.open_rows & (~self.belief.tried | ((self.belief.runs > 0) & (kept >= LIKELIER)))
        usable[weighed.incumbent] |= not usable.any()
        saves = weighed.horizon * knowledge_gradient(self.belief, log_ratio, usable)
        return replace(weighed, score=np.where(usable, weighed.expected - saves, np.inf))

    @property
    def counts_runs(self) -> bool:
        """Whether it is known how many runs follow, and each may try something."""
        on = self.boldness.explore == "on" and self.boldness.goal == "recurring"
        return on and self.boldness.nightly and self.context.runs_left is not None

    @cached_property
    def open_rows(self) -> Bools:
        """Admissible rows that nothing holds, shape (K,); under `explore` "on" only lasting holds count."""
        return np.asarray(self.candidates.admissible & ~held(self.holds, lasting=self.boldness.explore == "on"))

    @cached_property
    def exploration(self) -> Exploration:
        return Exploration(self.comparison, self.acquisition, self.boldness, self.leeway, self.open_rows)

    @property
    def rules(self) -> tuple[RuleApplied, ...]:
        """What each rule took away, in order: first what must not be run, then what may not be tried."""
        last = [hold for hold in self.holds if hold.lasting or self.boldness.explore != "on"]
        left, applied = np.ones(len(self.open_rows), dtype=np.bool_), []
        for name, code, rows in (
            ("limits and SLA", "JPO-I670", ~self.candidates.admissible & ~held(last)),
            *((hold.code, hold.code, hold.rows) for hold in last),
            *((rule.name, rule.code, rows) for rule, rows in self.exploration.taken),
        ):
            taken = left & rows
            left = left & ~taken
            applied.append(RuleApplied(name, code, int(taken.sum()), int(left.sum())))
        return tuple(applied)

    @property
    def allowed(self) -> Bools:
        """Rows that may be run next, shape (K,)."""
        return self.exploration.allowed
