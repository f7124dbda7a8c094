"""Promised validation loss that today's values break: what is likely enough to lower it comes first, and today's values may stay.

What lowers it is worth half as much time again. Once it seems out of reach, a lower loss is taken where it costs nothing.
"""

import math
from dataclasses import dataclass

import numpy as np

from jpo.agent.candidate_rows import models_of
from jpo.agent.preference import NEARLY_NOTHING
from jpo.agent.safety.confidence import MOST, log_loss_of, p_loss_below
from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.agent.safety.risk import FAR_DEARER, WORSE
from jpo.records import VAL_LOSS, Belief, Bools, Candidates, Floats, Note, Quality
from jpo.wording import numbers
from jpo.wording.names import heading
from jpo.wording.qualities import value

NEARLY_BEST = 0.5
"""Share of the best chance to keep the promise, or of the largest gain, with which a row still counts as one of the best."""
TRIED = 3
"""Models with a measured loss, today's among them, after which a promise that none keeps may be called out of reach."""
SELDOM = 0.1
"""Chance to keep the promise below which no configuration is expected to."""


@dataclass(frozen=True, eq=False, slots=True)
class Promise:
    """Promise of a validation loss that today's values break.

    Attributes:
        target: its name in [sla]; `quality`: which quality of the model it bounds. A loss here is the error of that.
        limit: the loss that was promised.
        today, reached: the loss expected of today's values, and the least that is expected of values that were run.
        tried: models whose loss was measured; values of the hardware make no other model.
        loss: ln of the loss that is expected of each row, against today's, (K,).
        p_lower: chance of each row to end well with a lower loss than today's, (K,): what is claimed of those that may lower it.
        lowering: rows that are expected to lower it, for no more than it is worth, (K,).
        gain: by how much of today's loss a run of each row is expected to be better, worse ones counted as none, (K,).
        quick: rows that take hardly longer than today's, (K,).
        p_kept: chance of each admissible row to end well and keep the promise, (K,); 0 of others.
    """

    target: str
    quality: Quality
    limit: float
    today: float
    reached: float
    tried: int
    loss: Floats
    p_lower: Floats
    lowering: Bools
    gain: Floats
    quick: Bools
    p_kept: Floats

    @property
    def out_of_reach(self) -> bool:
        """Whether enough was tried to say that it will not be kept."""
        return self.tried >= TRIED and self.p_kept.max() < SELDOM

    def first(self, min_confidence: float) -> Bools:
        """Rows of which one is run next: the best of those that lower the loss with enough confidence; none: today's may stay."""
        rows = np.asarray(self.lowering & (self.p_lower >= min_confidence))
        rows = rows & self.quick if (rows & self.quick).any() else rows
        if not rows.any():
            return rows
        worth = self.p_kept if self.p_kept[rows].max() >= SELDOM else -self.loss
        return np.asarray(rows & (worth >= NEARLY_BEST * worth[rows].max()))

    @property
    def no_worse(self) -> Bools:
        """Rows that are not expected to raise the loss above the best that was reached, (K,)."""
        return np.asarray(self.loss <= math.log(self.reached / self.today) + NEARLY_NOTHING)

    @property
    def finding(self) -> str:
        limit, today = self.quality.value_of(self.limit), value(self.quality, self.today)
        return f"{self.target} = {numbers.plain(limit)} is not met (today's values are expected to end with {today})"

    def note(self) -> Note:
        """Why nothing comes first."""
        finding, reached = self.finding, value(self.quality, self.reached)
        best = f"the best of {self.tried} models that were tried reached {reached}" if self.tried > 1 else ""
        if self.out_of_reach:
            chance = f"no values that may be tried meet it with more than {SELDOM:.0%} chance"
            kept = "stays as high as it is" if self.quality.more_is_better else "stays as low as it is"
            short = "loss" if self.quality == VAL_LOSS else heading(self.quality.name)
            return Note("JPO-W639", f"{finding} and seems out of reach: {best}, and {chance}; the {short} {kept}")
        better = "raise" if self.quality.more_is_better else "lower"
        held = f"no change that is allowed is likely enough to {better} it"
        return Note("JPO-W638", "; ".join(filter(None, (f"{finding}, and {held}", best))))


def promise_of(
    candidates: Candidates,
    belief: Belief,
    reference: int,
    limit: float,
    loss_interval_factor: float = 1.0,
    *,
    target: str = "val_loss_max",
) -> Promise | None:
    """The promise, if today's values are expected to break it; None where they keep it, or no loss was measured.

    `reference`: row against whose time it is said what a lower loss may cost; `limit`, `target`: as of `Promise`.
    """
    if belief.val_loss is None or belief.val_loss <= limit:
        return None
    weights, now, well = belief.weights, candidates.current, 1 - belief.p_fail
    logs = log_loss_of(belief, candidates, now)
    loss = np.asarray(weights @ logs)
    measured = (belief.runs if belief.loss_runs is None else belief.loss_runs) > 0
    measured[now] = True
    tried = len({*models_of(candidates)[measured].tolist()})
    kept = well * p_loss_below(belief, candidates, limit / belief.val_loss, loss_interval_factor)
    p_kept = np.where(candidates.admissible, kept, 0.0)
    time, cost = weights @ belief.log_time, weights @ belief.log_cost
    affordable = time - time[reference] < FAR_DEARER
    if tried >= TRIED and p_kept.max() < SELDOM:
        affordable = (time - time[now] < NEARLY_NOTHING) & (cost - cost[now] < NEARLY_NOTHING)
    lowering = (
        candidates.admissible
        & (loss < -NEARLY_NOTHING)
        & (belief.p_fail < LIKELY_TO_FAIL)
        & (candidates.log_rate <= 0)
        & affordable
    )
    return Promise(
        target=target,
        quality=belief.quality,
        limit=limit,
        today=belief.val_loss,
        reached=belief.val_loss * math.exp(float(loss[measured].min())),
        tried=tried,
        loss=loss,
        p_lower=np.minimum(well * p_loss_below(belief, candidates, 1 - NEARLY_NOTHING, loss_interval_factor), MOST),
        lowering=lowering,
        gain=np.asarray(well * (weights @ np.maximum(-np.expm1(logs), 0.0))),
        quick=time < WORSE,
        p_kept=p_kept,
    )
