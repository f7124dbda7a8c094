"""What a run was worth, as a vector of log ratios to the workload's reference run; a scalar only when sampled, with a preference.

    column   0 time   1 cost   2 utilisation   3 validation loss   4 failed (1.0) or not (0.0)

Columns that were not measured are NaN. A failed run counts as twice the incumbent's time and cost at half its utilisation, so
that under every preference it costs FAILURE_CHARGE runs of the incumbent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.preference import FAILURE_CHARGE, scalarise

if TYPE_CHECKING:
    from jpo.records import Floats, Outcome, Preference, Run

WORST = 3.0
"""Regret is cut at three optimal runs: beyond, worse is equally to be avoided, and outliers would drown the critics."""


def failed_like(incumbent: Floats) -> Floats:
    """The reward vector of a failed run, (5,) -> (5,), given that of the incumbent at that time."""
    charge = math.log(FAILURE_CHARGE)
    return incumbent * (1, 1, 1, 1, 0) + (charge, charge, -charge, 0, 1)


def reward_vector(run: Run, reference: Run, log_rate: float) -> Floats:
    """Compare a run that ended well with the reference run.

    Args:
        log_rate: natural log of the run's price per hour relative to the reference's; used where a cost is not measured.

    Returns:
        Shape (5,); NaN where one of the two has no measurement above zero.
    """
    ours, theirs = run.outcome, reference.outcome
    time = _log_ratio(ours.duration_seconds, theirs.duration_seconds)
    cost = _log_ratio(ours.cost_usd, theirs.cost_usd)
    loss = _log_ratio(ours.val_loss, theirs.val_loss)
    return np.array((time, time + log_rate if math.isnan(cost) else cost, _utilisation(ours, theirs), loss, 0.0))


def objective(vectors: Floats, preference: Preference) -> Floats:
    """The log objective of reward vectors, (..., 5) -> (...), smaller is better; 0 = as the reference run."""
    time, cost, utilisation, loss, _ = np.moveaxis(vectors, -1, 0)
    return scalarise(time, cost, utilisation, loss, preference)


def regret_reward(vectors: Floats, preference: Preference, best: Floats | float) -> Floats:
    """The scalar reward: minus the regret against the best known configuration, in 0..3 of its runs.

    Args:
        vectors: shape (..., 5).
        best: log objective of the best known configuration under the same preference; in simulation the optimum itself.

    Returns:
        Shape (...), in -3..0; NaN where the objective is not known.
    """
    regret = np.expm1(objective(vectors, preference) - best)
    reward: Floats = -np.clip(regret, 0.0, WORST)
    return reward


def _log_ratio(ours: float | None, theirs: float | None) -> float:
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return math.nan
    return math.log(ours / theirs)


def _utilisation(ours: Outcome, theirs: Outcome) -> float:
    """GPUs if both runs measured them, else CPUs."""
    gpu = _log_ratio(ours.gpu_utilisation, theirs.gpu_utilisation)
    return _log_ratio(ours.cpu_utilisation, theirs.cpu_utilisation) if math.isnan(gpu) else gpu
