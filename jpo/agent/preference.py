"""Preference over several objectives, which become one number here and nowhere else. What is compared are natural logs of ratios,
so that 10% of time weighs as much as 10% of money, whatever the job's size."""

import math

import numpy as np

from jpo.records import Floats, Preference

LOSS_TOLERANCE = math.log(1.02)
"""A validation loss 2% above today's is within what two runs of one configuration differ by, and is not penalised."""
LOSS_WEIGHT = 3.0
"""Beyond the tolerance 1% of validation loss weighs as 3% of time or cost: a worse model is no saving, but it stays a trade."""
NEARLY_NOTHING = 0.005
"""Half a percent, of a cost, a loss or a chance: what differs by less is the same."""
FAILURE_CHARGE = 2.0
"""A failed run costs this many runs of the incumbent: it is paid for, gives nothing, and must be done again."""


def scalarise(log_time: Floats, log_cost: Floats, log_utilisation: Floats, log_loss: Floats, preference: Preference) -> Floats:
    """Turn time, cost, efficiency and validation loss into the one number which the agent makes small.

    Args:
        log_time, log_cost, log_utilisation, log_loss: any one shape; natural logs of ratios to one reference, 0 = as there.
            NaN = not measured.
        preference: weights that sum to 1, so the result is again the log of a ratio. Without a weight of its own the loss has no
            say while it is not worse; with one, the trade is the user's.

    Returns:
        The same shape, smaller is better. NaN where something that carries weight is not measured; a loss that is not measured
        is not penalised.

    Source: weighted sum, Roijers et al., "A Survey of Multi-Objective Sequential Decision-Making", JAIR 2013.
    """
    parts = ((preference.time, log_time), (preference.paid, log_cost), (-preference.efficiency, log_utilisation))
    objective = np.zeros_like(log_time)
    for weight, part in parts:
        if weight:  # NaN x 0 would be NaN
            objective += weight * part
    if preference.loss:
        objective += preference.loss * log_loss
    else:
        objective += LOSS_WEIGHT * np.fmax(log_loss - LOSS_TOLERANCE, 0.0)  # of a NaN and 0 fmax takes 0
    return objective
