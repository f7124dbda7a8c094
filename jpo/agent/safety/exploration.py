"""Exploration: which rows may be run next, as an ordered table of rules (rules.py)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.acquisition import clearly_better
from jpo.agent.safety.confidence import p_nothing_better
from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.agent.safety.risk import chance_of_harm
from jpo.records import RESOURCES

if TYPE_CHECKING:
    from jpo.agent.acquisition import AcquisitionValues
    from jpo.agent.budget import Boldness, Leeway
    from jpo.agent.comparison import Comparison
    from jpo.records import Bools, Floats

import os
SETTLED = float(os.environ.get("X_SETTLED", "0.8"))
"""Chance that nothing is better by more than noise from which a job is settled, and nothing is tried any more."""
EVEN = float(os.environ.get("X_EVEN", "0.5"))
DEARER = float(os.environ.get("X_DEARER", "1.05"))
FAR_DEARER = float(os.environ.get("X_FAR", "0.5"))
SELDOM = float(os.environ.get("X_SELDOM", "0.05"))
GAIN = float(os.environ.get("X_GAIN", "0.9"))
X_NOCHEAP = bool(os.environ.get("X_NOCHEAP"))
BACK = float(os.environ.get("X_BACK", "0.5"))


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
        """Rows that may be run next, shape (K,)."""
        if self.asked and self.next_trial is not None:
            return self._is(self.next_trial)
        if self.only_measured:
            return self._is(self.known_best if self.open_rows[self.known_best] or not self._may_stay else self._now)
        if self.boldness.explore == "on":
            return self.open_rows
        today = self._is(self._now) & self.open_rows
        if not self.boldness.min_confidence:
            if self.leeway.budget_left < 0:
                return self._is(self.known_best if self.open_rows[self.known_best] or not self._may_stay else self._now)
            left, factor = self.leeway.budget_left, self.comparison.calibration.interval_factor
            risk = chance_of_harm(self.comparison.belief, self.comparison.against_today, self._now, left, interval_factor=factor)
            allowed = self.open_rows & ((risk <= 1 - self.boldness.confidence) | today | self._is(self.acquisition.incumbent))
        else:
            allowed = today | self.improvements | self.returns | self.trials
        if allowed.any():
            return np.asarray(allowed)
        rows = self.open_rows if self.open_rows.any() else self.comparison.candidates.admissible
        risk = self.comparison.weighed.p_worse_today
        return np.asarray(rows & (risk <= risk.min(where=rows, initial=1.0)))

    @property
    def _now(self) -> int:
        return self.comparison.candidates.current

    @property
    def _others(self) -> Bools:
        return self.open_rows & ~self._is(self._now)

    @cached_property
    def improvements(self) -> Bools:
        """Rows that are better than today's with enough confidence, shape (K,)."""
        return np.asarray(self._bare_improvements & ~(self.unearned_resources if not os.environ.get('X_FREE') else False))

    @cached_property
    def _bare_improvements(self) -> Bools:
        return np.asarray(self._others & (self.comparison.p_better >= self.boldness.min_confidence))

    @cached_property
    def returns(self) -> Bools:
        """Rows that worked before and are likelier than not to be better than today's."""
        belief, now = self.comparison.belief, self._now
        proven = belief.runs >= max(belief.runs[now], 1)
        return np.asarray(self._others & proven & (self.comparison.p_better >= BACK) & (self.expected < self.expected[now]))

    @cached_property
    def expected(self) -> Floats:
        """Expected cost against today's, failures charged, (K,)."""
        return np.asarray(self.acquisition.expected / self.acquisition.expected[self._now])

    @cached_property
    def settled(self) -> bool:
        comparison = self.comparison
        factor = comparison.calibration.interval_factor
        return p_nothing_better(comparison.belief, comparison.against_today, self._others, interval_factor=factor) >= SETTLED

    @cached_property
    def trials(self) -> Bools:
        return np.asarray(self._bare_trials & ~self.unearned_resources)

    @cached_property
    def _bare_trials(self) -> Bools:
        """Rows that may be tried under "safe"."""
        comparison, score = self.comparison, self.acquisition.score
        belief, factor, now = comparison.belief, comparison.calibration.interval_factor, self._now
        promise, pays = comparison.promise, score < score[self.acquisition.incumbent]
        spread = comparison.against_today
        if os.environ.get("X_PLAIN"):
            far = (1 - belief.p_fail) * (belief.weights @ (spread > np.log(1 + FAR_DEARER)))
        else:
            far = chance_of_harm(belief, comparison.against_today, now, FAR_DEARER, interval_factor=factor)
        rules = {
            "settled": np.full(len(far), self.settled),
            "count": np.full(len(far), self.leeway.trials_left + float(os.environ.get("X_COUNT","0")) < 1),
            "gain": self.acquisition.improvement < float(os.environ.get("X_MIN","0")),
            "budget": np.full(len(far), self.leeway.budget_left < 0),
            "worth": ~(pays | promise.lowering if promise else pays),
            "dearer": np.exp(belief.weights @ comparison.against_today) > DEARER,
            "odds": comparison.p_safe < EVEN,
            "far": far > SELDOM,
        }
        rows = self._others & ~belief.tried
        if os.environ.get("X_DEBUG"):
            import sys
            left, said = rows, [f"admissible {self.comparison.candidates.admissible.sum()} open {rows.sum()}"]
            for name, gone in rules.items():
                said.append(f"{name} -{(left & gone).sum()}"); left = left & ~gone
            said.append(f"left {left.sum()} more {(left & self.more_resources).sum()} improv {self._bare_improvements.sum()} ret {self.returns.sum()} trials_left {self.leeway.trials_left} budget {self.leeway.budget_left:.2f}")
            print("; ".join(said), file=sys.stderr)
        for gone in rules.values():
            rows = rows & ~gone
        return np.asarray(rows)

    @cached_property
    def _cheaper(self) -> Bools:
        """Trials of another batch or rate, with no more resources than ever."""
        candidates = self.comparison.candidates
        learning = [at for at, name in enumerate(candidates.names) if name in ("batch_size", "learning_rate")]
        other = (candidates.values[:, learning] != candidates.values[candidates.current, learning]).any(axis=1)
        if len(np.unique(candidates.values[self.comparison.belief.tried][:, learning], axis=0)) > 1:
            return np.zeros(len(other), dtype=np.bool_)
        return np.asarray((self._bare_trials | self._bare_improvements) & other & ~self.comparison.belief.tried & ~self.more_resources)

    @cached_property
    def more_resources(self) -> Bools:
        """Rows that ask for more of any resource than any finished run had."""
        candidates, tried = self.comparison.candidates, self.comparison.belief.tried
        more = np.zeros(len(tried), dtype=np.bool_)
        for at, name in enumerate(candidates.names):
            if name in RESOURCES and name != "cpus":
                column = candidates.values[:, at]
                more |= column > column[tried].max(initial=column[candidates.current]) * (1 + 1e-9)
        return more & ~tried

    @cached_property
    def unearned_resources(self) -> Bools:
        """More of a resource than any run had, with too little gain, or before cheaper trials of batch and rate."""
        more = self.more_resources
        if not more.any():
            return more
        candidates, comparison = self.comparison.candidates, self.comparison
        little = np.exp(comparison.belief.weights @ comparison.against_today) > GAIN
        return np.asarray(more & (little | (self._cheaper.any() and not X_NOCHEAP)))

    @property
    def only_measured(self) -> bool:
        """Whether nothing new may be tried."""
        return self.boldness.explore == "off"

    @property
    def asked(self) -> bool:
        """Whether a trial was asked for."""
        return self.boldness.explore != "off" and self.leeway.exploration_runs_left > 0

    @property
    def exploring(self) -> bool:
        return self.asked

    @cached_property
    def next_trial(self) -> int | None:
        """The most informative row that was not run yet, by what it may gain for its cost; None: none is left."""
        rows, belief, promise = self.open_rows & ~self.comparison.belief.tried, self.comparison.belief, self.comparison.promise
        if promise and (lower := rows & promise.lowering).any():
            rows = lower
        likely = rows & (belief.p_fail < LIKELY_TO_FAIL)
        rows = likely if likely.any() else rows
        return int(np.argmax(np.where(rows, self._gain, -np.inf))) if rows.any() else None

    @cached_property
    def _gain(self) -> Floats:
        saved, promise = self.acquisition.improvement / self.acquisition.expected, self.comparison.promise
        return saved if promise is None else np.where(promise.lowering, promise.gain, saved)

    @cached_property
    def sure(self) -> Bools:
        return self.improvements | self.returns | self._is(self._now)

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
