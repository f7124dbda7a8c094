"""Savings: what the runs since JPO's first change took, next to what as many would have taken as it was before.

What counts is what a usable result took: the time and money of all runs, whatever ended them, by the number of those that ended
well. Those that followed no suggestion since are on neither side (optimizer/before_and_after.py).
Where too few runs are from before, the forecast for one is used instead, and is marked as such.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from jpo.cost import Prices, outcome_of
from jpo.forecast.before_after import Basis, t_quantile
from jpo.forecast.measurements import FEWEST
from jpo.history.figures import LARGEST
from jpo.optimizer.before_and_after import Sides, each_before, taken
from jpo.records import Floats, Interval

ALWAYS, IF_MEASURED = ("duration_seconds", "cost_usd"), ("energy_joules", "co2_kg")  # of which what was saved is told


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved of a quantity; below 0: more was spent.

    Attributes:
        each_before: what each run that ended well took before, failed and stopped ones included; None: nothing was measured.
        runs_before: runs from before that were measured; `each_before` rests on them, if `basis` is not the forecast.
        runs_after: runs since that were measured; `well_after`: those of them that ended well.
        spent: what these took together.
        saved: what as many results would have taken as before, less that; None: too few runs before, or none after.
        uncounted: runs of either side that were not measured, or stopped before the first change.
    """

    quantity: str
    each_before: float | None
    runs_before: int
    runs_after: int
    well_after: int
    spent: float
    saved: Interval | None
    basis: Basis = "runs"
    uncounted: int = 0


def savings(sides: Sides, prices: Prices) -> tuple[Saved, ...]:
    """What was saved of time and of money; of energy and what making it emits where runs have measured it."""
    every = (saved_of(quantity, sides, prices) for quantity in (*ALWAYS, *IF_MEASURED))
    return tuple(one for one in every if one.quantity in ALWAYS or one.runs_after)


def saved_of(quantity: str, sides: Sides, prices: Prices) -> Saved:
    before, before_well = taken(quantity, sides.before, prices, before=True)
    after, after_well = taken(quantity, sides.after, prices)
    well, spent, expected = int(after_well.sum()), float(after.sum()), sides.expected.of(quantity)
    basis: Basis = "forecast" if expected and len(after) and before_well.sum() < FEWEST else "runs"
    each, saved = each_before(quantity, sides, prices), None
    if expected and basis == "forecast":  # it may be wrong in the same way of every run
        saved = Interval(*(well * of_each - spent for of_each in (expected.mean, expected.low, expected.high)))
    elif each is not None and len(before) >= FEWEST and len(after):
        half = half_width(before - each * before_well, before_well, well)
        saved = Interval(well * each - spent, well * each - spent - half, well * each - spent + half)
    uncounted = len(sides.before) + len(sides.after) - len(before) - len(after)
    return Saved(quantity, each, len(before), len(after), well, spent, saved, basis, uncounted)


def saved_by_run(saved: Saved, sides: Sides, prices: Prices) -> list[tuple[float, float]]:
    """When each run after the first change ended, and what it saved; without a model it cost what it took."""
    each = saved.each_before
    took = ((run.ended_at, run.ended_well, outcome_of(run, saved.quantity, prices)) for run in sides.after)
    return [(at, each * well - spent) for at, well, spent in took if each and spent is not None and spent < LARGEST]


def half_width(residuals: Floats, well: Floats, results: int) -> float:
    """Half of the 90% prediction interval of what so many results would have taken.

    Two things are not known: what a result takes in the mean, from as few runs as there were, and what these very ones would have
    taken. Without failures it is the interval of the sum of new values of a normal distribution.

    Args:
        residuals: of each run before, what it took less what a result takes, where it brought one; shape (n,).
        well: 1 for each that ended well, (n,).

    Source: Hahn and Meeker, "Statistical Intervals", 1991, 4.7 (a new sample); of the ratio: Cochran, "Sampling Techniques",
    1977, 6.4.
    """
    runs = len(residuals)
    attempts = results * runs / float(well.sum())
    variance = float((residuals**2).sum()) / (runs - 1)
    return t_quantile(runs - 1) * math.sqrt(variance * attempts * (1 + attempts / runs))


def together(some: Iterable[Saved]) -> Interval | None:
    """What several workloads saved together, taken as independent of each other; None: of none it is known."""
    known = [one.saved for one in some if one.saved]
    if not known:
        return None
    mean = sum(saved.mean for saved in known)
    below = math.hypot(*(saved.low - saved.mean for saved in known))
    above = math.hypot(*(saved.high - saved.mean for saved in known))
    return Interval(mean, mean - below, mean + above)
