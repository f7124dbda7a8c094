"""Slope of a run's learning curve: what some more or fewer epochs would have changed.

A larger batch that needs more epochs for the same progress costs about this slope times ln of the factor: what a forecast makes
of it is in forecast/evidence/loss.py.
"""

import math
from collections.abc import Iterable
from itertools import combinations, pairwise
from statistics import fmean, median

FEWEST_LOSSES = 4
"""Validation losses; fewer are no curve."""
FIRST_SHARE = 0.25
"""Share of the run before the slope is measured: early in training a loss falls much faster. The last half alone would be flat
wherever the learning rate is annealed, however much the job still has to learn."""
_GROUPS = 24
"""Neighbouring losses are averaged to this many points at most: pairs are counted."""
Slope = tuple[float, float]
"""d ln loss / d ln epochs, and its standard error."""


def loss_slope(curve: Iterable[tuple[float, float]]) -> Slope | None:
    """Slope after the first quarter of a run.

    `curve`: epochs done (or seconds since the start) and validation loss; of several losses at one place the last counts.

    Returns None for fewer than FEWEST_LOSSES, and where one of the later ones is not finite and positive.

    Source: Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", JASA 1968; the error is that of least squares.
    """
    places = sorted({place: loss for place, loss in curve if math.isfinite(place) and place > 0}.items())
    if len(places) < FEWEST_LOSSES:
        return None
    late = sum(place >= FIRST_SHARE * places[-1][0] for place, _ in places)
    last = places[-max(late, FEWEST_LOSSES) :]
    if any(not (math.isfinite(loss) and loss > 0) for _, loss in last):
        return None
    logs = [(math.log(place), math.log(loss)) for place, loss in last]
    count = min(len(logs), _GROUPS)
    borders = [round(group * len(logs) / count) for group in range(count + 1)]
    groups = (logs[begin:end] for begin, end in pairwise(borders))
    points = [(fmean(x for x, _ in group), fmean(y for _, y in group)) for group in groups]
    slope = median((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2))
    x_mean, y_mean = fmean(x for x, _ in points), fmean(y for _, y in points)
    missed = sum((y - y_mean - slope * (x - x_mean)) ** 2 for x, y in points)
    return slope, math.sqrt(missed / (len(points) - 2) / sum((x - x_mean) ** 2 for x, _ in points))
