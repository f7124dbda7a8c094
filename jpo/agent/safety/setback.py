"""Harm of the last change, judged from the runs that followed it against those with the values before it.

The ordinary decision weighs all candidates against each other; this one asks of a single change whether it should be undone.
One failed run may be the cluster's fault, and is left to the ordinary decision.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from jpo.agent import reasons
from jpo.agent.acquisition import CLIP, log_objective
from jpo.agent.preference import LOSS_TOLERANCE, LOSS_WEIGHT
from jpo.agent.problem import Problem
from jpo.agent.safety import failing
from jpo.records import Note, Parameters, Run, RunStatus, same
from jpo.wording import numbers

Broken = tuple[str, float, float, float]
"""An SLA target that is not kept any more: its name, the limit, what is expected of the values before and now."""
Z = 2.12
"""Noise alone makes 5 of 100 changes look so much worse, one-sided, after any of the first five runs by which they are judged.

Source: Pocock, "Group Sequential Methods in the Design and Analysis of Clinical Trials", Biometrika 1977, table 1."""


def outlasting(runs: Sequence[Run], now: Parameters, before: Parameters) -> int:
    """Runs of today's values that were stopped after they had taken longer than any run with the values before that ended well.

    A run that is stopped says little by itself: its node may have been lost. One that outlasted all of those is none to hope for.
    """
    well = [run.outcome.duration_seconds or 0.0 for run in runs if run.ended_well and same(before, run.parameters)]
    stopped = [run for run in runs if run.status is RunStatus.STOPPED and same(now, run.parameters)]
    return sum(bool(well) and (run.outcome.duration_seconds or 0.0) > max(well) for run in stopped)


def setback(problem: Problem, before: int, broken: Iterable[Broken] = (), outlasted: int = 0) -> Note | None:
    """Why today's values are a change for the worse; None if they are not, or it cannot be known.

    A model is worse against the problem's reference, or without one against the values before the change. It must be the ordinary
    decision's reference, or that would take the same step again. Values that may not be run any more are not gone back to.

    Args:
        before: row of the values before the change.
        broken: SLA targets which it broke.
        outlasted: runs since that were stopped after they had taken longer than those before: see `outlasting`.
    """
    belief = problem.belief
    now = problem.candidates.current
    runs, failures = int(belief.runs[now]), int(belief.failures[now])
    if not belief.runs[before] or before == now or not problem.candidates.admissible[before]:
        return None
    if not runs:
        often_well = belief.failures[before] < belief.runs[before]
        took_longer = f"{' and ' if failures else ''}{outlasted} had to be stopped" if outlasted else ""
        failed = f"{failures} runs failed" if failures or not outlasted else ""
        finding = f"{failed}{took_longer} since, and none ended well; before it {belief.runs[before]} did"
        return Note("JPO-I843", finding) if failures + outlasted >= failing.FEWEST and often_well else None
    if belief.failures[before] >= belief.runs[before]:
        return None  # whatever is worse now, it is no way back
    if problem.comparison.often_failing[now] and not problem.comparison.often_failing[before]:
        return Note(failing.CODE, f"the values that it set {failing.words(belief, now)}")
    for name, *values in broken:
        limit, then, today = map(numbers.plain, values)
        return Note("JPO-I841", f"{name} = {limit} was met before it and is not met since: from {then} to {today}")
    worse, noise = worsening(problem, before)
    if worse <= Z * problem.comparison.calibration.interval_factor * noise:
        return None
    finding = f"since then the outcome is {100 * math.expm1(worse):.0f}% worse under your preference, more than noise explains"
    return Note("JPO-I842", f"{finding}; the values before it {reasons.measured(problem, before)}")


def worsening(problem: Problem, before: int) -> tuple[float, float]:
    """By how much today's log objective is above the one before, and the sd of that by which equal runs differ."""
    belief, preference, now = problem.belief, problem.comparison.preference, problem.candidates.current
    reference = before if problem.comparison.reference is None else problem.comparison.reference
    objective = log_objective(belief, preference, reference)  # (J, K)
    worse = float(belief.weights @ np.clip(objective[:, now] - objective[:, before], -CLIP, CLIP))
    log_loss = belief.weights @ belief.log_loss  # (K,)
    beyond = belief.val_loss is not None and max(log_loss[now], log_loss[before]) - log_loss[reference] > LOSS_TOLERANCE
    weight = 0.0 if belief.val_loss is None else preference.loss or (LOSS_WEIGHT if beyond else 0.0)
    return worse, math.hypot(belief.noise, weight * belief.loss_noise) * math.sqrt(1 / belief.runs[now] + 1 / belief.runs[before])
