"""Configurations that ran, by what was measured of them, and those which no other one beats."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import numpy as np

from jpo.cost import Prices, run_cost_usd
from jpo.forecast.before_after import BeforeAfter, compare
from jpo.forecast.measurements import FEWEST
from jpo.forecast.pareto import non_dominated
from jpo.history.figures import configurations, seconds_by_values
from jpo.optimizer.pareto.front import maximised
from jpo.records import Quality, Run


@dataclass(frozen=True, slots=True)
class MeasuredConfiguration:
    """A configuration that ran.

    Attributes:
        runs, failed: runs that ended well with it, and those that did not.
        values: by quantity the median of those that ended well; None: not measured.
        on_front: no other one is as good in both quantities and better in one.
    """

    parameters: Mapping[str, float]
    runs: int
    failed: int
    values: Mapping[str, float | None]
    on_front: bool


Effect: TypeAlias = tuple[float, float, BeforeAfter]
"""Another value of a parameter: the old and the new one, and the time of a run with either."""


@dataclass(frozen=True, slots=True)
class MeasuredFront:
    """Configurations on two quantities, the first of which is the time; without points where a second one was not measured.

    `maximised`: whether more of the second one is better. `effects`: what the newest value of a parameter did to the time of a
    run, where runs differ in nothing else.
    """

    quantities: tuple[str, ...]
    points: tuple[MeasuredConfiguration, ...]
    maximised: bool
    effects: Mapping[str, Effect] = field(default_factory=dict)


def measured_front(runs: Sequence[Run], prices: Prices, metric: Quality | None = None) -> MeasuredFront:
    """The front of time and cost; where no cost is known, of time and what was measured of the model.

    `runs`: with all their parameters. `metric`: the user's own.
    """
    tried = configurations(runs, lambda run: run_cost_usd(run, prices))
    second = ("cost_usd", *([metric.name] if metric else []), "val_loss", "val_accuracy")
    quantity = next((name for name in second if any(one.medians.get(name) is not None for one in tried)), None)
    if quantity is None:
        return MeasuredFront(("duration_seconds",), (), False, effects_of(runs))
    more = maximised(quantity, metric)
    axes = ("duration_seconds", quantity)
    places = [[_signed(one.medians.get(name), minus=more and name == quantity) for name in axes] for one in tried]
    best = non_dominated(np.array(places, dtype=np.float64).reshape(-1, 2))
    points = [
        MeasuredConfiguration(one.parameters, one.runs, one.failed, {name: one.medians.get(name) for name in axes}, bool(front))
        for one, front in zip(tried, best, strict=True)
    ]
    points.sort(key=lambda point: (not point.on_front, point.values["duration_seconds"] or math.inf))
    return MeasuredFront(axes, tuple(points), more, effects_of(runs))


def effects_of(runs: Sequence[Run]) -> dict[str, Effect]:
    """The newest effect of each parameter: of configurations that differ in it alone, and each ended well often enough.

    `runs`: oldest first, with all their parameters.
    """
    often = [(dict(given), seconds) for given, seconds in seconds_by_values(runs).items() if len(seconds) >= FEWEST]
    found = {}
    for (before, some), (after, others) in combinations(often, 2):
        changed = [name for name in before if before[name] != after.get(name)]
        if len(changed) == 1 and before.keys() == after.keys():
            found[changed[0]] = before[changed[0]], after[changed[0]], some, others
    return {
        name: (old, new, compare("duration_seconds", some, others, more_is_better=False, seed=0))
        for name, (old, new, some, others) in found.items()
    }


def _signed(value: float | None, *, minus: bool) -> float:
    return math.nan if value is None else -value if minus else value
