"""Reward of a run, as a vector of log ratios to the workload's reference run; a scalar only when sampled, with a preference.

    column   0 time   1 cost   2 utilisation   3 validation loss   4 failed (1.0) or not (0.0)
             5 what breaks an SLA, in multiples of the reference run (no log; 0.0 = nothing): what was spent beyond the budget,
               and for each SLA target that a run missed the natural log of what it had over the target, at most 1

Columns that were not measured are NaN. A failed run counts as twice the incumbent's time and cost at half its utilisation, so
that under every preference it costs FAILURE_CHARGE runs of the incumbent.
"""

import math

import numpy as np

from jpo.agent.preference import FAILURE_CHARGE, scalarise
from jpo.records import Floats, Outcome, Preference, Run

WORST = 3.0
"""Regret is cut at three optimal runs: beyond, worse is equally to be avoided, and outliers would drown the critics."""
OVERSPENT = 3.0
"""What breaks an SLA counts so much once more: a tenth above the target time is as bad as a third of the reference run more,
and e times the target time could not be worse."""


def failed_like(incumbent: Floats) -> Floats:
    """Reward vector of a failed run, (6,) -> (6,), given that of the incumbent at that time."""
    charge = math.log(FAILURE_CHARGE)
    return incumbent * (1, 1, 1, 1, 0, 0) + (charge, charge, -charge, 0, 1, 0)


def reward_vector(run: Run, reference: Run, log_rate: float, *, by_energy: bool = False) -> Floats:
    """Reward vector of a run that ended well, compared with the reference run.

    `log_rate`: natural log of the run's price per hour relative to the reference's; used where a cost is not measured. Where an
    hour costs the same (0), the energy says what differs. `by_energy`: the cost is the energy.

    Returns shape (6,); NaN where one of the two has no measurement above zero.
    """
    ours, theirs = run.outcome, reference.outcome
    time = _log_ratio(ours.duration_seconds, theirs.duration_seconds)
    cost = math.nan if by_energy else _log_ratio(ours.cost_usd, theirs.cost_usd)
    if math.isnan(cost) and (by_energy or log_rate == 0):
        cost = _log_ratio(ours.energy_joules, theirs.energy_joules)
    loss = _log_ratio(ours.val_loss, theirs.val_loss)
    return np.array((time, time + log_rate if math.isnan(cost) else cost, _utilisation(ours, theirs), loss, 0.0, 0.0))


def objective(vectors: Floats, preference: Preference) -> Floats:
    """Log objective of reward vectors, (..., 6) -> (...), smaller is better; 0 = as the reference run."""
    time, cost, utilisation, loss, *_ = np.moveaxis(vectors, -1, 0)
    return scalarise(time, cost, utilisation, loss, preference)


def regret_reward(vectors: Floats, preference: Preference, best: "Floats | float") -> Floats:
    """Scalar reward: minus the regret against the best known configuration and what breaks an SLA, in runs of it.

    Args:
        vectors: shape (..., 6).
        best: log objective of the best known configuration under the same preference; in simulation the optimum itself.

    Returns shape (...), in -WORST..0; NaN where the objective is not known.
    """
    regret = np.expm1(objective(vectors, preference) - best) + OVERSPENT * vectors[..., 5] * np.exp(-best)
    reward: Floats = -np.clip(regret, 0.0, WORST)
    return reward


def _log_ratio(ours: float | None, theirs: float | None) -> float:
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return math.nan
    return math.log(ours) - math.log(theirs)


def _utilisation(ours: Outcome, theirs: Outcome) -> float:
    """GPUs if both runs measured them, else CPUs."""
    gpu = _log_ratio(ours.gpu_utilisation, theirs.gpu_utilisation)
    return _log_ratio(ours.cpu_utilisation, theirs.cpu_utilisation) if math.isnan(gpu) else gpu
