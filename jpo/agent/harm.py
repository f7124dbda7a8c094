"""Whether the last change did harm, judged from the runs that followed it against those with the values before it.

The ordinary decision weighs all candidates against each other; this one asks of a single change whether it should be undone.
One failed run may be the cluster's fault, and is left to the ordinary decision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent import reasons
from jpo.agent.acquisition import CLIP, log_objective
from jpo.agent.preference import LOSS_TOLERANCE, LOSS_WEIGHT

if TYPE_CHECKING:
    from jpo.records import Belief, Candidates, Preference

    Broken = tuple[str, float, float, float]
    """A promise that was kept before and is not any more: its name, the limit, what is expected of the values before and now."""

Z = 2.12
"""Noise alone makes 5 of 100 changes look so much worse, one-sided, after any of the first five runs by which they are judged.

Source: Pocock, "Group Sequential Methods in the Design and Analysis of Clinical Trials", Biometrika 1977, table 1."""
LOSS_NOISE = 0.03
"""sd of ln validation loss between equal runs, as the belief has it."""
REPEATED = 2
"""So many failures, and no run that ended well, are the change's fault."""


def setback(
    before: int,
    belief: Belief,
    candidates: Candidates,
    preference: Preference,
    *,
    broken: Iterable[Broken] = (),
    interval_factor: float = 1.0,
    found: int | None = None,
) -> tuple[str, str] | None:
    """Why today's values are a change for the worse, with the reason code; None if they are not, or nobody can tell.

    Args:
        before: row of the values before the change.
        broken: promises which it broke.
        widen: the calibration watch's factor, at least 1, by which the noise is taken to be larger.
        found: row against whose validation loss a model is worse, None = the one before. It must be the ordinary decision's, or
            that would take the same step again.
    """
    now = candidates.current
    runs, failures = int(belief.runs[now]), int(belief.failures[now])
    if not belief.runs[before] or before == now:
        return None
    if not runs:
        often_well = belief.failures[before] < belief.runs[before]
        told = f"{failures} runs failed since and none ended well; before it {belief.runs[before]} did"
        return (told, "JPO-I843") if failures >= REPEATED and often_well else None
    for name, limit, then, today in broken:
        return f"{name} = {limit:g} was kept before it and is not since: {then:.4g} became {today:.4g}", "JPO-I841"
    worse, noise = worsening(before, belief, candidates, preference, before if found is None else found)
    if worse <= Z * interval_factor * noise:
        return None
    told = f"since then the outcome is {100 * math.expm1(worse):.0f}% worse under your preference, more than noise explains"
    return f"{told}; what stood there before {reasons.measured(before, candidates, belief)}", "JPO-I842"


def worsening(before: int, belief: Belief, candidates: Candidates, preference: Preference, found: int) -> tuple[float, float]:
    """By how much today's log objective is above the one before, and the sd of that by which equal runs differ."""
    now = candidates.current
    objective = log_objective(belief, preference, found)  # (J, K)
    worse = float(belief.weights @ np.clip(objective[:, now] - objective[:, before], -CLIP, CLIP))
    log_loss = belief.weights @ belief.log_loss  # (K,)
    beyond = belief.val_loss is not None and max(log_loss[now], log_loss[before]) - log_loss[found] > LOSS_TOLERANCE
    weight = preference.loss or (LOSS_WEIGHT if beyond else 0.0)
    return worse, math.hypot(belief.noise, weight * LOSS_NOISE) * math.sqrt(1 / belief.runs[now] + 1 / belief.runs[before])
