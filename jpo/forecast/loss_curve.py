"""Loss curves, extrapolated to more epochs than were measured, where the curve supports that."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from jpo.records import Interval

TOO_FEW_LOSSES, FARTHEST_LOSS, LOSS_NOISE = 8, 4.0, 0.05
"""A loss is extrapolated only from this many epochs, by at most this factor, and from a curve as smooth as this (ln)."""


def loss_after(losses: Sequence[tuple[float, float]], epochs: float) -> Interval | None:
    """The validation loss after all epochs, by a power law floor + scale x epochs^-power that is fitted to the measured losses.

    None for few or rough losses, for those that do not fall, and far beyond the last one.

    Source: Hestness et al., "Deep Learning Scaling is Predictable, Empirically", 2017.
    """
    if len(losses) < TOO_FEW_LOSSES or epochs > FARTHEST_LOSS * losses[-1][0] or min(loss for _, loss in losses) <= 0:
        return None
    epochs_seen, losses_seen = np.array(losses).T
    powers, floors = np.meshgrid(np.geomspace(0.1, 3, 30), np.linspace(0, 0.99, 34) * losses_seen.min())
    curve = epochs_seen ** -powers.ravel()[:, None]  # (grid, losses)
    scale = ((losses_seen - floors.ravel()[:, None]) * curve).sum(1) / (curve**2).sum(1)
    errors = np.log(np.maximum(floors.ravel()[:, None] + scale[:, None] * curve, 1e-12) / losses_seen)
    rough = math.sqrt(float((errors**2).mean(1).min()))
    if rough > LOSS_NOISE or (scale[(errors**2).sum(1).argmin()] <= 0):
        return None
    weights = np.exp(-((errors**2).sum(1) - (errors**2).sum(1).min()) / (2 * max(rough, 0.01) ** 2))
    final = np.log(np.maximum(floors.ravel() + scale * epochs ** -powers.ravel(), 1e-12))
    mean = float(weights @ final / weights.sum())
    deviation = math.sqrt(float(weights @ (final - mean) ** 2 / weights.sum()) + max(rough, 0.01) ** 2 + 0.02**2)
    reach = 1.645 * deviation
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))
