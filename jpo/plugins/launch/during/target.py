"""A trial that a target will end: its chance to be cheaper than the best configuration usually is, and what going on costs.

Until its target a run is worth nothing, and how far that is its curve says (forecast/curves/target.py). What a trial has cost
already is gone, but counts towards whether it can win. Its model is worth what another run for one would cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jpo.forecast.curves.target import EpochsToTarget

UNLIKELY = 0.1
"""A trial whose chance to win is above this goes on, whatever the values say: the forecast is of other workloads, too."""
REACH, POINTS = 3.0, 61
"""Standard deviations to either side over which the forecast is summed up, and at how many points."""


@dataclass(frozen=True, slots=True)
class TargetOutlook:
    """What becomes of a trial, in runs of the rival.

    Attributes:
        wins: probability that it reaches the target for less than the best configuration usually costs.
        total: what it will cost in all, in the median.
        left: what going on costs until it ends, or is stopped since it was too dear; in usual runs.
        gain: what one later run is expected to save, in usual runs.
        brings: probability that it reaches the target before that, and brings a model.
    """

    wins: float
    total: float
    left: float
    gain: float
    brings: float

    def hopeless(self, horizon: float) -> bool:
        """Whether it should be stopped, if so many runs follow that a better configuration would serve."""
        return self.wins < UNLIKELY and self.left > horizon * self.gain + self.brings


def outlook(spent: float, to_target: EpochsToTarget, usual: float, most: float) -> TargetOutlook:
    """What becomes of a trial: at a cost of `most` it is stopped in any case.

    `spent`, above 0, is its cost so far, and `usual` what the best configuration costs on average, all in runs of the rival.
    """
    places = np.linspace(-REACH, REACH, POINTS)
    weights = np.exp(-(places**2) / 2)
    weights /= weights.sum()
    total = spent * np.exp(np.maximum(to_target.mean + to_target.deviation * places, 0.0))
    left = np.maximum(np.minimum(total, most) - spent, 0.0) / usual
    gain = np.maximum(0.0, 1 - total / usual)
    wins = float(weights @ (total < usual))
    median, brings = spent * math.exp(max(to_target.mean, 0.0)), float(weights @ (total < most))
    return TargetOutlook(wins, median, float(weights @ left), float(weights @ gain), brings)
