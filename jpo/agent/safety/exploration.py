"""What may be run next: an ordered table of rules over the candidates, of which each takes some away, with its code.

A change is one of three. An improvement is better than today's values and than any that ran, with `min_confidence`. A return goes
back to values that ended well, and is likelier than not to be better. Everything else is a trial, and RULES say which are left.
`jpo explain --rules` prints the table for a suggestion, docs/decision.md is made from it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jpo.agent.acquisition import AcquisitionValues, clearly_better
from jpo.agent.budget import Boldness, Leeway
from jpo.agent.candidate_rows import least, nearest
from jpo.agent.comparison import Comparison
from jpo.agent.safety.confidence import LIKELIER, p_nothing_better
from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.agent.safety.risk import FAR_DEARER, WORSE, chance_of_harm
from jpo.records import RESOURCES, Bools, ChangeKind, Floats

SETTLED = 0.8
"""Chance that nothing is better than today's values by more than noise from which a job is settled: nothing is tried any more."""
LEAST_GAIN = 0.03
"""Share of a run that a trial must be expected to gain if it turns out better: trials are few, and small moves use them up."""
DEARER = math.log(1.05)
"""Tonight a trial is not expected to cost more than this above today's values (in ln of the objective)."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """Exploration of the candidates of a problem, whose fields it has. All masks and amounts have shape (K,)."""

    comparison: Comparison
    acquisition: AcquisitionValues
    boldness: Boldness
    leeway: Leeway
    open_rows: Bools

    @cached_property
    def allowed(self) -> Bools:
        """Rows that may be run next. Where no rule leaves any, since today's values may not stay, something must be run: what
        ended well before, or else a step back to it; where only what was measured may be, the best of that, admissible or not."""
        if self.left.any():
            return self.left
        if self.rules == (MEASURED,):
            return self.is_row(self.known_best)
        if self.step_back is not None:
            return self.is_row(self.step_back)
        well = self.may_run & (self.comparison.belief.runs > 0)
        rows = well if well.any() else self.may_run
        risk = self.comparison.weighed.p_worse_today
        return np.asarray(rows & (risk <= risk.min(where=rows, initial=1.0)))

    @cached_property
    def left(self) -> Bools:
        left = self.open_rows
        for _, taken in self.taken:
            left = left & ~taken
        return left

    @property
    def may_run(self) -> Bools:
        """Rows that nothing holds; where all are held, all that the guard lets through."""
        return self.open_rows if self.open_rows.any() else self.comparison.candidates.admissible

    @cached_property
    def step_back(self) -> int | None:
        """Where today's values may not stay, no rule leaves anything, and `way_back_to` is more than one step away: the row that
        comes nearest to it, of those that are likelier than not to end well with the loss kept. None: nothing of this."""
        goal, rows = self.way_back_to, self.may_run
        if self.may_stay or self.left.any() or goal is None or rows[goal]:
            return None
        likely = rows & (self.p_ends_kept >= LIKELIER)
        return nearest(self.comparison.candidates, goal, likely if likely.any() else rows, self.acquisition.expected)

    @property
    def way_back_to(self) -> int | None:
        """The row of least expected cost, besides today's, that ended well and is likelier than not to do so, its loss kept."""
        well = self.others & (self.comparison.belief.runs > 0) & (self.p_ends_kept >= LIKELIER)
        return least(self.acquisition.expected, well) if well.any() else None

    @property
    def p_ends_kept(self) -> Floats:
        """Chance to end well with the loss kept, as far as there is a floor."""
        kept = self.comparison.p_loss_kept
        return (1 - self.comparison.belief.p_fail) * (1.0 if kept is None else kept)

    @property
    def rules(self) -> "tuple[RunRule, ...]":
        if self.boldness.explore != "off" and self.asked_for is not None:
            return (ASKED_FOR,)
        if self.boldness.explore == "on" or self.boldness.goal == "search":
            return ()
        if self.boldness.explore == "off" or (self.boldness.min_confidence <= 0 and self.leeway.overspent):
            return (MEASURED,)
        return RULES if self.boldness.min_confidence > 0 else (WITHIN_BUDGET,)

    @cached_property
    def taken(self) -> "tuple[tuple[RunRule, Bools], ...]":
        """The rules in order, each with the rows that it takes away."""
        return tuple((rule, rule.takes_away(self)) for rule in self.rules)

    def why_not(self, row: int) -> "RunRule | None":
        """The first rule that takes a row away; None: none does."""
        return next((rule for rule, taken in self.taken if taken[row]), None)

    def kind(self, row: int) -> ChangeKind:
        if row == self.now:
            return "kept"
        if self.comparison.belief.runs[row] or row == self.step_back:
            return "return"
        return "improvement" if self.likely_better[row] else "trial"

    @property
    def now(self) -> int:
        return self.comparison.candidates.current

    @cached_property
    def others(self) -> Bools:
        return ~self.is_row(self.now)

    @cached_property
    def likely_better(self) -> Bools:
        """Rows that are better than today's with `min_confidence`, or where that is 0, likelier than not; what never ended well
        also than the best that is known, since after a bad trial nearly everything is better than today's."""
        least_chance, promise = self.boldness.min_confidence or LIKELIER, self.comparison.promise
        than_known = (self.acquisition.p_better >= least_chance) | (self.comparison.belief.runs > 0)
        than_known = than_known | promise.lowering if promise else than_known
        return np.asarray((self.comparison.p_better >= least_chance) & than_known & self.others)

    @cached_property
    def returns(self) -> Bools:
        """Rows that ended well as often as today's, or more, and are likelier than not to be better."""
        proven = self.comparison.belief.runs >= max(self.comparison.belief.runs[self.now], 1)
        cheaper = self.acquisition.expected < self.acquisition.expected[self.now]
        return np.asarray(proven & cheaper & (self.comparison.p_better >= LIKELIER) & self.others)

    @cached_property
    def trials(self) -> Bools:
        """Rows that were never run, and are no improvement."""
        return np.asarray(~self.comparison.belief.tried & ~self.likely_better & self.others)

    @cached_property
    def settled(self) -> bool:
        """Whether nothing that may be run is better than today's values by more than noise, with a chance of SETTLED, or may
        lower a promised loss, which counts for nothing in that."""
        comparison, others = self.comparison, self.open_rows & self.others
        if comparison.promise and (comparison.promise.lowering & others).any():
            return False
        factor = comparison.calibration.interval_factor
        return p_nothing_better(comparison.belief, comparison.against_today, others, interval_factor=factor) >= SETTLED

    @cached_property
    def worth_trying(self) -> Bools:
        """Rows that are expected to pay off over the runs to come, or to lower a promised loss."""
        score, promise = self.acquisition.score, self.comparison.promise
        pays_off = (score < score[self.acquisition.incumbent]) & (self.acquisition.improvement >= LEAST_GAIN)
        return np.asarray(pays_off | promise.lowering if promise else pays_off)

    @cached_property
    def expected_log(self) -> Floats:
        """The expected log objective against today's values, of a run that ends well: what the forecasts of time and cost say."""
        return np.asarray(self.comparison.belief.weights @ self.comparison.against_today)

    @cached_property
    def p_far_dearer(self) -> Floats:
        """Chance that a run ends well and costs far more than one of today's values."""
        belief = self.comparison.belief
        return np.asarray((1 - belief.p_fail) * (belief.weights @ (self.comparison.against_today > FAR_DEARER)))

    @cached_property
    def p_over_budget(self) -> Floats:
        """Chance that a run costs more than what is left of the budget; 0 of today's values and of the best that is known."""
        comparison, left = self.comparison, max(self.leeway.budget_left, 0.0)
        factor = comparison.calibration.interval_factor
        risk = chance_of_harm(comparison.belief, comparison.against_today, self.now, left, interval_factor=factor)
        risk[[self.now, self.acquisition.incumbent]] = 0.0
        return risk

    @cached_property
    def unearned_resources(self) -> Bools:
        """Rows with more GPUs, nodes or memory than any run had, and too small a gain for that; all of them while no other batch
        or rate was ever run, and one may be tried: what these do is found out for less."""
        candidates, tried = self.comparison.candidates, self.comparison.belief.tried
        more = np.zeros(len(tried), dtype=np.bool_)
        for name, column in zip(candidates.names, candidates.values.T, strict=True):
            if name in RESOURCES and name != "cpus":
                more |= column > column[tried].max(initial=column[self.now]) * (1 + 1e-9)
        at = [i for i, name in enumerate(candidates.names) if name in ("batch_size", "learning_rate")]
        learning = candidates.values[:, at]
        if (learning[tried] != learning[tried][:1]).any():
            return np.asarray(more & (self.expected_log > -WORSE))
        other = (learning != learning[self.now]).any(axis=1)
        cheaper = self.open_rows & self.trials & ~more & other & self.worth_trying & ~self.too_risky
        return np.asarray(more & ((self.expected_log > -WORSE) | cheaper.any()))

    @cached_property
    def too_risky(self) -> Bools:
        """Rows that are expected to be dearer tonight, or not likely enough to end well and cost about as much."""
        seldom = self.p_far_dearer <= self.boldness.chance_of_more
        return np.asarray((self.expected_log > DEARER) | (self.comparison.p_safe < LIKELIER) | ~seldom)

    @cached_property
    def asked_for(self) -> int | None:
        """The trial that was asked for: the most informative row that has not been tried, by what it may gain for its cost."""
        rows, belief = self.open_rows & ~self.comparison.belief.tried, self.comparison.belief
        if self.leeway.exploration_runs_left <= 0 or not rows.any():
            return None
        gain, promise = self.acquisition.improvement / self.acquisition.expected, self.comparison.promise
        if promise:
            gain = np.where(promise.lowering, promise.gain, gain)
            rows = rows & promise.lowering if (rows & promise.lowering).any() else rows
        likely = rows & (belief.p_fail < LIKELY_TO_FAIL)
        return least(-gain, likely if likely.any() else rows)

    @property
    def known_best(self) -> int:
        """The incumbent if it is better than today, or today is not admissible.

        Better means: in expectation, and either confirmed by a second run or by more than the noise of the two means, or than
        values that have only ever failed. Where today's are unproven, anything that ended well is: how good they are was not
        measured, and a run that is stopped early seems cheap.
        """
        belief, acquisition, best = self.comparison.belief, self.acquisition, self.acquisition.incumbent
        if self.leeway.unproven and belief.runs[best]:
            return best
        sure = bool(belief.only_failed[self.now]) or belief.runs[best] > 1
        sure = sure or clearly_better(belief, acquisition.mean, best, self.now)
        better = sure and acquisition.expected[best] < acquisition.expected[self.now]
        return best if better or not self.may_stay else self.now

    @property
    def may_stay(self) -> bool:
        return bool(self.comparison.candidates.admissible[self.now])

    def is_row(self, row: int) -> Bools:
        return np.equal(np.arange(len(self.open_rows)), row)


@dataclass(frozen=True, slots=True)
class RunRule:
    """Rule of what may be run: the rows that it takes away, (K,), by a condition that a person can read.

    `condition`: of the rows that are taken away, after "what"; `code`: reason code of what looks better and is taken away;
    `in_short`: why one row is taken away, where its condition is too long for a narrow column.
    """

    name: str
    code: str
    condition: str
    takes_away: Callable[[Exploration], Bools]
    in_short: str = ""


def among_trials(condition: "Callable[[Exploration], Bools | bool]") -> Callable[[Exploration], Bools]:
    return lambda e: np.asarray(e.trials & condition(e))


ASKED_FOR = RunRule(
    "asked for",
    "JPO-I626",
    "is not the most informative of what was never run, where a trial was asked for",
    lambda e: ~e.is_row(e.now if e.asked_for is None else e.asked_for),
    "another trial tells more",
)
MEASURED = RunRule(
    "measured",
    "JPO-I607",
    'is not the best that was measured, where `explore` is "off"',
    lambda e: ~e.is_row(e.known_best if e.open_rows[e.known_best] or not e.may_stay else e.now),
)
WITHIN_BUDGET = RunRule(
    "within the budget",
    "JPO-I608",
    "may cost more than what is left of `budget`, with a chance above 1 - `confidence`",
    lambda e: e.p_over_budget > e.boldness.chance_of_more,
    "it may cost more than is left of `budget`",
)
RULES = (
    RunRule(
        "confidence",
        "JPO-I624",
        "ran before, and is neither better than today's values with `min_confidence` nor a return: values that ended well as "
        "often as today's, and are likelier than not to be better",
        lambda e: e.comparison.belief.tried & ~e.likely_better & ~e.returns & e.others,
        "it ran, and is not likely enough to be better than today",
    ),
    RunRule(
        "settled",
        "JPO-I625",
        f"is a trial, where nothing is better with a chance of {SETTLED:.0%}",
        among_trials(lambda e: e.settled),
    ),
    RunRule("budget", "JPO-W606", "is a trial, where `budget` is overspent", among_trials(lambda e: e.leeway.overspent)),
    RunRule("number of trials", "JPO-I672", "is a trial, where `trials` are used up", among_trials(lambda e: e.leeway.used_up)),
    RunRule(
        "worth trying",
        "JPO-I602",
        f"is a trial that is not expected to pay off over the runs to come, or to gain {LEAST_GAIN:.0%} of a run",
        among_trials(lambda e: ~e.worth_trying),
        "a trial of it is not expected to pay off",
    ),
    RunRule(
        "risk",
        "JPO-I608",
        f"is a trial that is expected to cost more than {math.expm1(DEARER):.0%} more tonight, or ends well and costs at most a "
        f"tenth more with less than even odds, or costs {math.expm1(FAR_DEARER):.0%} more with a chance above 1 - `confidence`",
        among_trials(lambda e: e.too_risky),
        "a trial of it may cost too much more",
    ),
    RunRule(
        "more resources",
        "JPO-I673",
        "is a trial with more GPUs or memory than any run had, that is not expected to gain a tenth, or comes before a cheaper "
        "trial of batch or rate",
        among_trials(lambda e: e.unearned_resources),
        "a trial of more GPUs or memory would gain too little",
    ),
)
"""Rules under `explore` "safe", in order. Those of trials never take away an improvement or a return."""
