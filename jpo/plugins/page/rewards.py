"""Reward of each run in its components, as the agent is taught it: logs of ratios to the first run that ended well."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jpo.agent.reward import failed_like, objective, regret_reward, reward_vector
from jpo.cost import Prices, run_cost_usd
from jpo.cost.sla import missed
from jpo.records import Preference, Run


@dataclass(frozen=True, slots=True)
class RewardComponents:
    """What a run was worth; None: not measured.

    Attributes:
        time, cost, loss: natural logs of the ratio to the reference run, smaller is better. Of a run that failed,
            what the agent is charged: twice what the best one before took.
        efficiency: the same of the utilisation, larger is better.
        sla: by how much it missed its targets, as natural logs; 0.0: it met them.
        reward: the number which the agent is taught under the preference: 0 = as the best known run, at worst -3.
    """

    run: Run
    time: float | None
    cost: float | None
    efficiency: float | None
    loss: float | None
    failed: bool
    sla: float
    reward: float | None


def reward_components(
    runs: Sequence[Run], targets: Mapping[str, float], prices: Prices, preference: Preference
) -> Iterator[RewardComponents]:
    """The components of every run from the reference on, oldest first; runs before it are compared with nothing.

    `runs`: of one workload, oldest first, with all their parameters. `targets`: those of [sla].
    """
    first = next((at for at, run in enumerate(runs) if run.ended_well and run.outcome.duration_seconds), len(runs))
    best, least = np.zeros(6), math.inf
    for run in runs[first:]:
        # a cost that is not known stays unknown
        ours, theirs = (replace(r, outcome=replace(r.outcome, cost_usd=run_cost_usd(r, prices))) for r in (run, runs[first]))
        vector = reward_vector(ours, theirs, math.nan, by_energy=preference.energy > 0) if run.ended_well else failed_like(best)
        vector = np.add(vector, (0, 0, 0, 0, 0, missed(targets, run, prices)))
        worth = float(objective(vector, preference))
        if worth < least:
            best, least = np.nan_to_num(vector), worth
        reward = float(regret_reward(vector, preference, least)) + 0.0 if math.isfinite(worth) else None  # no -0.0
        time, cost, efficiency, loss = (None if math.isnan(value) else float(value) for value in vector[:4])
        yield RewardComponents(run, time, cost, efficiency, loss, not run.ended_well, float(vector[5]), reward)
