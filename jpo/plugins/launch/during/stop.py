"""Stop a run that cannot win any more: what going on is worth against stopping, by the agent's objective.

All is counted in runs of the rival, the best run so far. Finishing costs the rest; it brings the model, if that will be
good enough, and the chance of a better configuration, which later runs gain from. Stopping brings nothing more: for as good a
model the rival has to run again, which costs one. So a trial is stopped where

    left > horizon x E[gain] + P(good enough)        and        it cannot win

the belief rule (docs/decisions/0020) applied to the rest of a run, with a guard. It cannot win where the forecast of its curve
gives it less than SURE, and would not if it still fell further than any finished run of the workload fell from there: so a run on
a plateau goes on as long as runs were seen to leave one, and one that has hardly begun goes on.

A trial of which nobody knows when it ends, as where a target ends it, is judged by the paid-for rule of `jpo lab replay`: at
twice the cost of the best values it is stopped. What a run has paid is gone, and counts only towards whether it can win. A run
that is wanted for its model is not stopped for what it costs, but only where its model can hardly be good enough.

No policy was trained for this: the released SAC policies choose between configurations. What is compared here are values under
the agent's own objective, with the forecast of the learning curve as belief.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from jpo.agent.preference import LOSS_TOLERANCE, scalarise
from jpo.forecast.curves.curve import Curve
from jpo.plugins.launch.during.adjustment import NOTHING, Saving
from jpo.plugins.launch.during.final_error import FinalError, final_error, student_below
from jpo.plugins.launch.during.progress import Rival, RunProgress
from jpo.records import Floats, Preference

SURE = 0.03
"""By the forecast of its curve a run whose chance to win is above this goes on, whatever the values say: beliefs may be wrong."""
PAID_FOR = 2.0
"""Multiples of what the best values usually cost, at which a trial of unknown progress is stopped: Zeus, NSDI 2023, 4.4."""
FEWEST_FINISHED = 5
"""Finished runs with a curve, before which no curve is a reason to stop: one schedule is known from nothing else."""
GRID = 401
"""Points at which the distribution of the final error is summed up."""
WIDEST = 12.0
"""Scales of it to either side that the points cover."""


@dataclass(frozen=True, slots=True)
class StopVerdict:
    """Whether a run goes on.

    Attributes:
        wins: probability that it beats the rival; None: nothing says so.
        left: cost of going on, in runs of the rival.
        saves: what stopping is expected to save, before any run in its place.
    """

    stop: bool
    why: str
    wins: float | None = None
    left: float | None = None
    saves: Saving = NOTHING


def verdict(
    progress: RunProgress, rival: Rival | None, preference: Preference, finished: Sequence[Curve], *, needed: bool, horizon: float
) -> StopVerdict:
    """Whether a run goes on.

    Args:
        rival: None: no run has ended well, so that this one is needed as the reference, unless it diverged.
        finished: learning curves of the workload's runs that came to their end.
        needed: whether somebody waits for its model; False: it is a trial.
        horizon: further runs that a better configuration is taken to serve.
    """
    seconds = progress.seconds_left
    saves = NOTHING if seconds is None else Saving(seconds, progress.usd(seconds))
    if progress.diverged:
        return StopVerdict(True, "its loss is not a number any more", wins=0.0, saves=saves)
    if rival is None:
        return StopVerdict(False, "no run of this workload has ended well yet: it is needed as the reference")
    if rival.error is not None and rival.error <= 0:
        rival = replace(rival, error=None)  # it has no logarithm
    final = final_of(progress, finished)
    if progress.total_seconds is None:
        return _without_an_end(progress, rival, preference, needed=needed)
    if progress.share_done is not None and progress.share_done >= 1:
        return StopVerdict(False, "its last epoch is done")
    if preference.loss and (final is None or rival.error is None):
        return StopVerdict(False, "nothing foretells how good its model will be")
    left = _cost(seconds or 0.0, saves.usd, rival, preference)
    least = progress.total_seconds.low * _whole(progress)
    optimistic = _cost(least, progress.usd(least), rival, preference)
    wins, gain, good = _chances(math.log(optimistic), rival, final, preference)
    reaches = _may_reach(math.log(optimistic), rival, final, preference)
    stop = wins < SURE and not reaches and left > horizon * gain + good and not (needed and good >= SURE)
    why = _because(stop, wins, rival, final, optimistic, preference, reaches=reaches)
    return StopVerdict(stop, why, wins, left, saves)


def final_of(progress: RunProgress, finished: Sequence[Curve]) -> FinalError | None:
    """The error after its last epoch; None where fewer than FEWEST_FINISHED runs with as many epochs support it."""
    if progress.curve is None or not progress.epochs:
        return None
    final = final_error(progress.curve, progress.epochs, finished)
    return final if final and final.runs >= FEWEST_FINISHED else None


def _whole(progress: RunProgress) -> float:
    """How many times longer a run with all epochs is than one that was resumed."""
    resumed = progress.epochs is not None and progress.epochs > progress.began_at > 0
    return progress.epochs / (progress.epochs - progress.began_at) if resumed and progress.epochs else 1.0


def _cost(seconds: float, usd: float | None, rival: Rival, preference: Preference) -> float:
    """Time and money in runs of the rival, as the preference weighs them; by time alone where money is unknown."""
    time = math.log(max(seconds, 1e-9) / rival.seconds)
    money = math.log(max(usd, 1e-12) / rival.usd) if usd is not None and rival.usd else time
    weights = preference.time + preference.cost
    return math.exp((preference.time * time + preference.cost * money) / weights if weights else time)


def _chances(log_cost: float, rival: Rival, final: FinalError | None, preference: Preference) -> tuple[float, float, float]:
    """P(it wins), E[gain of one later run], P(its model is good enough), by the agent's objective.

    `log_cost` is that of the whole run against the rival's.
    """
    if final is None or rival.error is None:
        losses, weights = np.zeros(1), np.ones(1)
    else:
        points = final.mean + final.scale * np.linspace(-WIDEST, WIDEST, GRID)
        losses, weights = (points[1:] + points[:-1]) / 2 - math.log(rival.error), _weights(final.freedom)
    times = np.full_like(losses, log_cost)
    objective: Floats = scalarise(times, times, np.zeros_like(losses), losses, preference)
    wins, good = float(weights @ (objective < 0)), float(weights @ (losses <= LOSS_TOLERANCE))
    return wins, float(weights @ np.maximum(0.0, 1 - np.exp(np.minimum(objective, 0.0)))), good


@cache
def _weights(freedom: int) -> Floats:
    """Probabilities between the points, which are the same wherever they lie."""
    between = np.diff([student_below(scales, freedom) for scales in np.linspace(-WIDEST, WIDEST, GRID)])
    return np.asarray(between / between.sum())


def _may_reach(log_cost: float, rival: Rival, final: FinalError | None, preference: Preference) -> bool:
    """Whether it would win, if it still fell further than any finished run did from where it is."""
    if final is None or rival.error is None:
        return False
    cost, loss = np.array([log_cost]), np.array([final.reach - math.log(rival.error)])
    return bool(scalarise(cost, cost, np.zeros(1), loss, preference)[0] < 0)


def _without_an_end(progress: RunProgress, rival: Rival, preference: Preference, *, needed: bool) -> StopVerdict:
    """Of a run of which nobody knows when it ends: a trial by the paid-for rule; one that is needed goes on."""
    spent = _cost(progress.elapsed_seconds, progress.usd(progress.elapsed_seconds), rival, preference)
    if needed or spent < PAID_FOR * rival.usual:
        return StopVerdict(False, "its end is not known")
    has = "cost" if _takes(rival, preference) == "cost" else "taken"
    why = f"it has {has} {spent / rival.usual:.1f} times as much as the best values usually do"
    return StopVerdict(True, f"{why}, and its end is not known", wins=0.0)


def _takes(rival: Rival, preference: Preference) -> str:
    """What decides: money where it is known and counts, else time."""
    return "cost" if rival.usd and preference.cost else "take"


def _because(
    stop: bool, wins: float, rival: Rival, final: FinalError | None, optimistic: float, preference: Preference, *, reaches: bool
) -> str:
    likely = wins >= SURE
    chance = f"its chance to beat {rival.run_id} is {wins:.0%}"
    if not likely:
        chance = f"its curve is unlikely to beat {rival.run_id}" if reaches else f"it is unlikely to beat {rival.run_id}"
    if final is not None and rival.error is not None:
        expected = final.interval()
        chance += f" (error at its end {expected.low:.3g} to {expected.high:.3g}, the best run's {rival.error:.3g})"
    elif optimistic > 1:
        chance += f" (it will {_takes(rival, preference)} at least {optimistic:.2f} times as much)"
    if stop or likely:
        return chance
    if reaches and final is not None and math.isinf(final.reach):
        return f"{chance}, but it has only just begun"
    if reaches:
        return f"{chance}, but earlier runs still improved about that much from there"
    return f"{chance}, but finishing it costs less than another run for a model"
