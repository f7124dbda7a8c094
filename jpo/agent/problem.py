"""Decision problem: all that belief rule, SAC and explanation read, in one record.

Acquisition values and the set of what may be tried follow from it, and are computed once. It chooses nothing; `decide` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.agent.acquisition import AcquisitionValues, acquisition_values, clearly_better, log_objective, log_ratios, p_beyond
from jpo.agent.budget import BUDGET, SHARE
from jpo.agent.candidate_rows import base_row
from jpo.agent.context import UNKNOWN, Context
from jpo.agent.safety.confidence import p_claim, p_loss_worse
from jpo.agent.safety.failing import known_to_end_well, often_failing
from jpo.agent.safety.promise import Promise
from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.agent.safety.vetoes import Hold, held
from jpo.records import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jpo.records import Belief, Bools, Candidates, Floats, Preference

Explore = Literal["off", "safe", "on"]
PATIENCE = 2
"""Runs with the same values after which a job stands still, and one trial is run below `min_confidence`."""
LONG = 10
"""Runs with the same values after which, if none of the budget is in use, a trial is earned that only may be better: no job
stands still for good while something is left to be tried."""
NEARLY_MOST = 0.8
"""Share of the largest gain with which a trial still counts as one of the most informative, among which is decided."""
EVEN, LENIENCE = 0.5, 0.2
"""It must be safe to try with at least this chance, and with so much less than `min_confidence` at most."""
IMPATIENCE, LEAST = 0.1, 0.2
"""By so much less with each further PATIENCE runs alike, down to LEAST: the budget says what it may cost."""
_WEIGHED = ("objective", "against_today", "weighed", "p_claim")
"""What no boldness, no context and no hold that does not last changes."""


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
        holds: what keeps candidates from being run now, besides the guard. Those that last are not admissible any more.
        quality_floor: by which share the validation loss may be worse than the reference's; None = as the preference says.
        min_confidence: least chance of its claim with which anything is written under "safe", in 0..1.
        loss_interval_factor: the calibration watch's factor of validation losses.
        repeated: how many runs in a row had today's values.
        promise: a validation loss that was promised, if today's values break it: what lowers it claims just that.
        unproven: today's values are a trial of which no run ended well: anything that did is gone back to.
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
    holds: tuple[Hold, ...] = ()
    quality_floor: float | None = None
    min_confidence: float = 0.0
    loss_interval_factor: float = 1.0
    repeated: int = 0
    promise: Promise | None = None
    unproven: bool = False

    def under(
        self, *, explore: Explore | None = None, context: Context | None = None, exploration_runs_left: int | None = None
    ) -> Problem:
        """The same problem with another boldness or in another context; the candidates are not weighed again."""
        left = self.exploration_runs_left if exploration_runs_left is None else exploration_runs_left
        other = replace(self, explore=explore or self.explore, context=context or self.context, exploration_runs_left=left)
        self.weighed  # noqa: B018 - computed here, if it was not before
        vars(other).update({name: value for name, value in vars(self).items() if name in _WEIGHED})
        return other

    def holding(self, holds: Sequence[Hold]) -> Problem:
        """The same problem with more holds, which do not last; the candidates are not weighed again."""
        if not holds:
            return self
        other = replace(self, holds=(*self.holds, *holds))
        vars(other).update({name: value for name, value in vars(self).items() if name in _WEIGHED})
        return other

    @cached_property
    def objective(self) -> Floats:
        """Log objective of every particle of the belief, (J, K); it is most of the work, and said once."""
        return log_objective(self.belief, self.preference, base_row(self.candidates, self.reference))

    @cached_property
    def against_today(self) -> Floats:
        """The same against today's configuration, (J, K)."""
        return log_ratios(self.objective, self.candidates.current)

    @cached_property
    def weighed(self) -> AcquisitionValues:
        """Acquisition values where it is not known how many runs follow."""
        return acquisition_values(
            self.belief, self.candidates, self.objective, self.against_today, interval_factor=self.interval_factor
        )

    @cached_property
    def acquisition(self) -> AcquisitionValues:
        """Acquisition values, by which candidates are compared, with the horizon of the runs that follow."""
        return self.weighed.within(self.context.horizon)

    @cached_property
    def leaves_today(self) -> bool:
        """Whether today's values end well at times, and fail more often than chance would have it: they are left for others."""
        now = self.candidates.current
        return bool(self.belief.runs[now] and self.often_failing[now])

    @cached_property
    def often_failing(self) -> Bools:
        """Rows that fail more often than chance would have it, shape (K,)."""
        return often_failing(self.belief.runs, self.belief.failures)

    @cached_property
    def known_to_end_well(self) -> Bools:
        """Rows besides today's that have ended well and do not fail often, shape (K,), admissible or not."""
        return known_to_end_well(self.candidates, self.belief.runs, self.often_failing)

    @property
    def ways_back(self) -> Bools:
        """Those of them that may be gone back to."""
        return self.candidates.admissible & self.known_to_end_well

    @property
    def only_measured(self) -> bool:
        """Whether nothing new may be tried: the user does not want it, or the budget is overspent."""
        return self.explore == "off" or self.budget_left < 0

    @cached_property
    def p_claim(self) -> Floats:
        """Chance of the claim of each candidate, shape (K,): it ends well, better than today, with the validation loss kept."""
        claimed, base = self.against_today, base_row(self.candidates, self.reference)
        if self.quality_floor is not None:  # it judges the loss of a trial, whose claim is of time and cost
            without_loss = log_objective(replace(self.belief, val_loss=None), self.preference, base)
            claimed = np.where(self.belief.tried, claimed, log_ratios(without_loss, self.candidates.current))
        chance = p_claim(
            self.belief,
            self.candidates,
            claimed,
            reference=base,
            interval_factor=self.interval_factor,
            loss_interval_factor=self.loss_interval_factor,
            tolerance=self.quality_floor,
        )
        return chance if self.promise is None else np.where(self.promise.lowering, self.promise.p_lower, chance)

    @cached_property
    def p_loss_kept(self) -> Floats | None:
        """Chance that a run that ends well keeps the quality floor, (K,); None where there is none, or no loss was measured."""
        if self.quality_floor is None or self.belief.val_loss is None:
            return None
        base = base_row(self.candidates, self.reference)
        return np.asarray(1 - p_loss_worse(self.belief, self.candidates, base, self.quality_floor, self.loss_interval_factor))

    @cached_property
    def sure(self) -> Bools:
        """Rows with enough confidence to be written under `explore` "safe", shape (K,); today's is not written.

        Where today's values only ever failed, going back to any that ended well is no gamble; where they may not stay, going to
        the best of these.
        """
        if self.min_confidence <= 0:
            return np.ones(len(self.candidates.values), dtype=np.bool_)
        now, confident = self.candidates.current, self.p_claim >= self.min_confidence
        if self.belief.only_failed[now]:
            return np.asarray(confident | (self.belief.runs > 0))
        return np.asarray(confident | self._is(now if self._may_stay else self.acquisition.incumbent))

    @property
    def exploring(self) -> bool:
        """Whether something untried is to be run, whether or not it is expected to pay off: asked for, or earned."""
        return self.explore != "off" and (self.exploration_runs_left > 0 or self.earned)

    @cached_property
    def earned(self) -> bool:
        """Whether a trial is earned under "safe": a share of the budget is left, and the job has stood still for PATIENCE runs.

        One of parameters of the team's own need not wait: nothing is known of them before, so that waiting tells nothing, and
        their lines in [parameters] say what may be tried. What is expected to pay off without them goes first.
        """
        affordable = self.explore == "safe" and self.min_confidence > 0 and self.budget_left >= SHARE * self.budget
        if not affordable or self.next_trial is None:
            return False
        return self.patient or (self.of_own(self.next_trial) and not self._moves_on)

    @property
    def _moves_on(self) -> bool:
        """Whether something may be run that is expected to pay off, and not by parameters of the team's own alone."""
        score = self.acquisition.score
        return bool((may_try(self) & ~self._of_own & (score < score[self.acquisition.incumbent])).any())

    @property
    def patient(self) -> bool:
        """Whether the job has stood still for PATIENCE runs, or twice as many, or ..."""
        return self.repeated > 0 and self.repeated % PATIENCE == 0

    def of_own(self, row: int) -> bool:
        """Whether a row changes nothing but parameters of the team's own, as seen from the best that was measured."""
        return bool(self._of_own[row])

    @cached_property
    def _of_own(self) -> Bools:
        names, values = self.candidates.names, self.candidates.values
        known = [at for at, name in enumerate(names) if name in PARAMETERS]
        incumbent = self.acquisition.incumbent
        alike = (values[:, known] == values[incumbent, known]).all(axis=1)
        return np.asarray(alike & (values != values[incumbent]).any(axis=1))

    @cached_property
    def open_rows(self) -> Bools:
        """Admissible rows that nothing holds, shape (K,); under `explore` "on" only lasting holds count."""
        return np.asarray(self.candidates.admissible & ~held(self.holds, lasting=self.explore == "on"))

    @cached_property
    def next_trial(self) -> int | None:
        """The most informative row that was not run yet, by what it may gain for its cost; None: none is left."""
        return int(np.argmax(np.where(self._trials, self._gain, -np.inf))) if self._trials.any() else None

    @cached_property
    def _trials(self) -> Bools:
        """Rows that were not run yet: where trials were asked for, not what is likely to fail; else what is safe to try."""
        rows = self.open_rows & ~self.belief.tried
        if self.promise and (lower := rows & self.promise.lowering & (self.p_claim >= self._needed)).any():
            return np.asarray(lower)
        if not (self.exploration_runs_left or self.explore == "on"):
            score = self.acquisition.score
            worth_it = (score < score[self.acquisition.incumbent]) | self._stood_long
            safe = rows & worth_it & (self.p_claim >= self._needed)
            of_own = safe & self._of_own
            return np.asarray(of_own if of_own.any() and not self.patient else safe)
        likely = rows & (self.belief.p_fail < LIKELY_TO_FAIL)
        return np.asarray(likely if likely.any() else rows)

    @property
    def _stood_long(self) -> bool:
        """Whether it has stood still so long, with the whole budget left, that a trial need not be expected to pay off."""
        return self.repeated >= LONG and self.budget_left >= self.budget

    @property
    def _needed(self) -> float:
        """Least chance that an earned trial is safe to try: less, the longer the job has stood still."""
        waited = max(0, self.repeated // PATIENCE - 1)
        return max(EVEN, self.min_confidence - LENIENCE) - min(IMPATIENCE * waited, EVEN - LEAST)

    @cached_property
    def _gain(self) -> Floats:
        saved = self.acquisition.improvement / self.acquisition.expected
        return saved if self.promise is None else np.where(self.promise.lowering, self.promise.gain, saved)

    @cached_property
    def allowed(self) -> Bools:
        """Rows that may be run next, shape (K,): the best known one, the trial that was asked for, or what `may_try` says."""
        if self.exploring and self.next_trial is not None:
            return np.asarray(self._trials & (self._gain >= NEARLY_MOST * self._gain[self.next_trial]))
        if self.only_measured:
            best = known_best(self)
            may_go = self.open_rows[best] and (self.explore != "safe" or self.sure[best])
            return self._is(best if may_go or not self._may_stay else self.candidates.current)
        return may_try(self)

    @property
    def _may_stay(self) -> bool:
        return bool(self.candidates.admissible[self.candidates.current])

    def _is(self, row: int) -> Bools:
        return np.equal(np.arange(len(self.candidates.values)), row)


def may_try(problem: Problem) -> Bools:
    """Rows that may be run next under `explore` "safe" or "on", shape (K,): admissible ones, today's and the incumbent always.

    Where none of these is left, since today's values break the SLA, something must be run: the one of least risk.
    """
    rows = problem.open_rows
    if problem.explore == "on":
        return rows
    risk = p_beyond(
        problem.belief,
        problem.candidates,
        problem.against_today,
        max(problem.budget_left, 0.0),
        interval_factor=problem.interval_factor,
    )
    safe = risk <= 1 - problem.confidence
    safe[[problem.candidates.current, problem.acquisition.incumbent]] = True
    allowed: Bools = rows & safe & problem.sure
    if allowed.any():
        return cheap_trials_first(problem, allowed) if problem.min_confidence > 0 else allowed
    rows = rows if rows.any() else problem.candidates.admissible
    return np.asarray(rows & (risk <= risk.min(where=rows, initial=1.0)))


def cheap_trials_first(problem: Problem, allowed: Bools) -> Bools:
    """The allowed rows without more GPUs than ever, shape (K,), while no other batch size or rate was ever run and one is
    worth it: what these do is found out for less, and a night on slow links costs several."""
    candidates, tried = problem.candidates, problem.belief.tried
    if "gpus" not in candidates.names:
        return allowed
    score, gpus = problem.acquisition.score, candidates.values[:, candidates.names.index("gpus")]
    learning = [at for at, name in enumerate(candidates.names) if name in ("batch_size", "learning_rate")]
    varied = len(np.unique(candidates.values[tried][:, learning], axis=0)) > 1
    more = ~tried & (gpus > gpus[tried].max(initial=gpus[candidates.current]))
    other = (candidates.values[:, learning] != candidates.values[candidates.current, learning]).any(axis=1)
    cheap = allowed & ~tried & ~more & other & (score < score[problem.acquisition.incumbent])
    return np.asarray(allowed & ~more if cheap.any() and not varied else allowed)


def known_best(problem: Problem) -> int:
    """The incumbent if it is better than today, or today is not admissible.

    Better means: in expectation, and either confirmed by a second run or by more than the noise of the two means, or than values
    that have only ever failed. Where today's are unproven, anything that ended well is: how good they are was not measured, and a
    run that is stopped early seems cheap.
    """
    belief, acquisition = problem.belief, problem.acquisition
    now, best = problem.candidates.current, acquisition.incumbent
    if problem.unproven and belief.runs[best]:
        return best
    sure = bool(belief.only_failed[now]) or belief.runs[best] > 1 or clearly_better(belief, acquisition.mean, best, now)
    better = sure and acquisition.expected[best] < acquisition.expected[now]
    return best if better or not problem.candidates.admissible[now] else now
