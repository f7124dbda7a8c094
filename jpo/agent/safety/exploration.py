"""Exploration: whether something untried is to be run next, and which rows may be run at all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import clearly_better
from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.agent.safety.risk import chance_of_harm
from jpo.records import PARAMETERS

if TYPE_CHECKING:
    from jpo.agent.acquisition import AcquisitionValues
    from jpo.agent.budget import Boldness, Leeway
    from jpo.agent.comparison import Comparison
    from jpo.records import Bools, Floats

NEARLY_MOST = 0.8
"""Share of the largest gain with which a trial still counts as one of the most informative, among which is decided."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """Exploration of the candidates of a problem, whose fields it has."""

    comparison: Comparison
    acquisition: AcquisitionValues
    boldness: Boldness
    leeway: Leeway
    open_rows: Bools

    @cached_property
    def allowed(self) -> Bools:
        """Rows that may be run next, shape (K,): the best known one, the trial that was asked for, or what `may_try` says."""
        if self.exploring and self.next_trial is not None:
            return np.asarray(self._trials & (self._gain >= NEARLY_MOST * self._gain[self.next_trial]))
        if self.only_measured:
            may_go = self.open_rows[self.known_best] and (self.boldness.explore != "safe" or self.sure[self.known_best])
            return self._is(self.known_best if may_go or not self._may_stay else self.comparison.candidates.current)
        return self.may_try

    @property
    def only_measured(self) -> bool:
        """Whether nothing new may be tried: the user does not want it, or the budget is overspent."""
        return self.boldness.explore == "off" or self.leeway.budget_left < 0

    @property
    def exploring(self) -> bool:
        """Whether something untried is to be run, whether or not it is expected to pay off: asked for, or earned."""
        return self.boldness.explore != "off" and (self.leeway.exploration_runs_left > 0 or self.earned)

    @cached_property
    def earned(self) -> bool:
        """Whether a trial is earned under "safe": a share of the budget is left, and the job has stood still for PATIENCE runs.

        One of parameters of the team's own need not wait: nothing is known of them before, so that waiting tells nothing, and
        their lines in [parameters] say what may be tried. What is expected to pay off without them goes first.
        """
        if not self.leeway.affords_trial(self.boldness) or self.next_trial is None:
            return False
        return self.leeway.patient or bool(self._own_moves[self.next_trial] and not self._moves_on)

    @property
    def _moves_on(self) -> bool:
        """Whether something may be run that is expected to pay off, and not by parameters of the team's own alone."""
        score = self.acquisition.score
        return bool((self.may_try & ~self._own_moves & (score < score[self.acquisition.incumbent])).any())

    @cached_property
    def _own_moves(self) -> Bools:
        """Rows that change nothing but parameters of the team's own, as seen from the best that was measured."""
        names, values = self.comparison.candidates.names, self.comparison.candidates.values
        known = [at for at, name in enumerate(names) if name in PARAMETERS]
        incumbent = self.acquisition.incumbent
        alike = (values[:, known] == values[incumbent, known]).all(axis=1)
        return np.asarray(alike & (values != values[incumbent]).any(axis=1))

    @cached_property
    def next_trial(self) -> int | None:
        """The most informative row that was not run yet, by what it may gain for its cost; None: none is left."""
        return int(np.argmax(np.where(self._trials, self._gain, -np.inf))) if self._trials.any() else None

    @cached_property
    def _trials(self) -> Bools:
        """Rows that were not run yet: where trials were asked for, not what is likely to fail; else what is safe to try."""
        belief, promise, score = self.comparison.belief, self.comparison.promise, self.acquisition.score
        rows = self.open_rows & ~belief.tried
        safe = rows & (self.comparison.p_claim >= self.leeway.chance_needed(self.boldness))
        if promise and (lower := safe & promise.lowering).any():
            return np.asarray(lower)
        if not (self.leeway.exploration_runs_left or self.boldness.explore == "on"):
            pays_off = score < score[self.acquisition.incumbent]
            worth_it = safe & (pays_off | self.leeway.stood_long(self.boldness))
            of_own = worth_it & self._own_moves
            return np.asarray(of_own if of_own.any() and not self.leeway.patient else worth_it)
        likely = rows & (belief.p_fail < LIKELY_TO_FAIL)
        return np.asarray(likely if likely.any() else rows)

    @cached_property
    def _gain(self) -> Floats:
        saved, promise = self.acquisition.improvement / self.acquisition.expected, self.comparison.promise
        return saved if promise is None else np.where(promise.lowering, promise.gain, saved)

    @cached_property
    def sure(self) -> Bools:
        """Rows with enough confidence to be written under `explore` "safe", shape (K,); today's is not written.

        Where today's values only ever failed, going back to any that ended well is no gamble; where they may not stay, going to
        the best of these.
        """
        belief, now = self.comparison.belief, self.comparison.candidates.current
        if self.boldness.min_confidence <= 0:
            return np.ones(len(belief.runs), dtype=np.bool_)
        confident = self.comparison.p_claim >= self.boldness.min_confidence
        if belief.only_failed[now]:
            return np.asarray(confident | (belief.runs > 0))
        return np.asarray(confident | self._is(now if self._may_stay else self.acquisition.incumbent))

    @cached_property
    def may_try(self) -> Bools:
        """Rows that may be run next under `explore` "safe" or "on", (K,): admissible ones, today's and the incumbent always.

        Where none of these is left, since today's values break the SLA, something must be run: the one of least risk.
        """
        comparison, rows = self.comparison, self.open_rows
        if self.boldness.explore == "on":
            return rows
        left, factor = max(self.leeway.budget_left, 0.0), comparison.calibration.interval_factor
        now = comparison.candidates.current
        risk = chance_of_harm(comparison.belief, comparison.against_today, now, left, interval_factor=factor)
        safe = risk <= 1 - self.boldness.confidence
        safe[[now, self.acquisition.incumbent]] = True
        allowed: Bools = rows & safe & self.sure
        if allowed.any():
            return self._cheap_trials_first(allowed) if self.boldness.min_confidence > 0 else allowed
        rows = rows if rows.any() else comparison.candidates.admissible
        return np.asarray(rows & (risk <= risk.min(where=rows, initial=1.0)))

    def _cheap_trials_first(self, allowed: Bools) -> Bools:
        """The allowed rows without more GPUs than ever, shape (K,), while no other batch size or rate was ever run and one is
        worth it: what these do is found out for less, and a night on slow links costs several."""
        candidates, tried = self.comparison.candidates, self.comparison.belief.tried
        if "gpus" not in candidates.names:
            return allowed
        score, gpus = self.acquisition.score, candidates.values[:, candidates.names.index("gpus")]
        learning = [at for at, name in enumerate(candidates.names) if name in ("batch_size", "learning_rate")]
        varied = len(np.unique(candidates.values[tried][:, learning], axis=0)) > 1
        more = ~tried & (gpus > gpus[tried].max(initial=gpus[candidates.current]))
        other = (candidates.values[:, learning] != candidates.values[candidates.current, learning]).any(axis=1)
        cheap = allowed & ~tried & ~more & other & (score < score[self.acquisition.incumbent])
        return np.asarray(allowed & ~more if cheap.any() and not varied else allowed)

    @property
    def known_best(self) -> int:
        """The incumbent if it is better than today, or today is not admissible.

        Better means: in expectation, and either confirmed by a second run or by more than the noise of the two means, or than
        values that have only ever failed. Where today's are unproven, anything that ended well is: how good they are was not
        measured, and a run that is stopped early seems cheap.
        """
        belief, acquisition = self.comparison.belief, self.acquisition
        now, best = self.comparison.candidates.current, acquisition.incumbent
        if self.leeway.unproven and belief.runs[best]:
            return best
        sure = bool(belief.only_failed[now]) or belief.runs[best] > 1 or clearly_better(belief, acquisition.mean, best, now)
        better = sure and acquisition.expected[best] < acquisition.expected[now]
        return best if better or not self._may_stay else now

    @property
    def _may_stay(self) -> bool:
        return bool(self.comparison.candidates.admissible[self.comparison.candidates.current])

    def _is(self, row: int) -> Bools:
        return np.equal(np.arange(len(self.open_rows)), row)
