"""A Gymnasium environment of simulated training jobs, for training other agents; docs/plugins/lab.md has an example.

One episode is one simulated job, one step is one run of it. Needs `pip install "jpo[simulate]"`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jpo.errors import UsageError
from jpo.learning.job import random_preference
from jpo.plugins.lab.episode import FAILURE, LADDERS, LENGTHS, TARGETS, EpisodeJob, EpisodeRun, slacks
from jpo.records import Preference
from jpo.simulate.installations import Installation, Kind, draw_installation

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    finding = "needs gymnasium, which is not installed"
    raise UsageError("jpo/TrainingJob-v0", finding, 'pip install "jpo[simulate]"', code="JPO-E710") from error

Action = NDArray[np.int64]
Observed = NDArray[np.float32]
ID = "jpo/TrainingJob-v0"
REACH = 2
"""Largest move of one step on each ladder, in rungs: a factor of 4, as the guard allows by default."""
WIDEST = 6.0
"""Largest natural log of a ratio in an observation; the simulator draws none that is larger."""
WORST = 3.0
SLA: Mapping[str, float] = {"duration": 1.5, "cost": 1.5}
"""The usual targets: no run takes or costs more than half as much again as the reference run."""
OBSERVED = (
    *(f"position_{name}" for name in LADDERS),
    *("log_time", "log_cost", "log_utilisation", "log_loss", "failed", "progress"),
    *("weight_time", "weight_cost", "weight_efficiency"),
    *("cpu_utilisation", "memory_utilisation", "gpu_utilisation"),
    *(f"slack_{name}" for name in TARGETS),
    "budget_left",
)


class TrainingJob(gymnasium.Env["Observed", "Action"]):
    """A recurring training job whose next configuration is chosen after each run.

    Action, MultiDiscrete: for each knob of LADDERS the number of rungs to move from the last run's value, 0 .. 2 REACH with REACH
    = stay; beyond the ends of a ladder the end counts. Nothing is refused: a configuration that fails is a run that failed.

    Observation, Box of float32 (all in -1..1), named by OBSERVED:
        position        of each knob relative to today's, in ladder lengths
        log             time, cost, utilisation, loss of the last run: ln ratio to the reference run / WIDEST; 0 if it failed
        failed          1 if the last run failed
        progress        share of the horizon that is over
        weight          the user's weights of time, cost and efficiency
        utilisation     of the CPUs and the memory asked for and of the GPUs in the last run, in 0..1. If it failed, CPUs and GPUs
                        are 0; memory at 1 says that the host's was not enough
        slack           of duration, cost and val_loss: ln (target / last run) / WIDEST, negative if the run broke the target;
                        1 where there is none; 0 after a failed run, which delivered nothing
        budget_left     share of the budget that is left, negative if it is overspent; 1 where there is none

    Reward: minus the regret of the run, cut to -3..0: -min(charge(run) / charge(best) - 1, 3), where
        charge = exp(w_time log_time + w_cost log_cost - w_efficiency log_utilisation + 3 max(log_loss - ln 1.02, 0))
                 + 3 x what it has over each target, as a natural log of at most 1
    without noise, and `best` is the best configuration of that run, which the simulator knows. A failed run counts as two runs of
    the last configuration that ended well. On average moves at random earn -2.5 a run and staying -1.4.

    An episode is truncated after `horizon` runs, not counting the reference run. With `end_at_broken_sla` it terminates with the
    first run that fails, breaks a target or overspends the budget, and earns -3 for this run and each that is left: to end never
    pays. `info`: parameters, regret, failed, `broken` (names of targets, "failed", "budget"), `best`: the oracle's parameters.

    Args:
        horizon: runs per episode, at least 1.
        drift: whether data grow and hardware changes (see drift.py).
        preference: the user's; None: one of time, cost, balanced, or random weights, drawn for each episode.
        sla: largest multiple of the reference run by TARGETS, each above 0; {}: none.
        budget: what all runs after the reference may cost, in multiples of its cost; None: any amount.
        end_at_broken_sla: whether an episode ends there.
        installation: where all episodes live (see installations.py); of a kind always the same one is drawn.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own convention

    def __init__(
        self,
        *,
        horizon: int = 20,
        drift: bool = False,
        preference: Preference | None = None,
        sla: Mapping[str, float] = SLA,
        budget: float | None = None,
        end_at_broken_sla: bool = False,
        installation: Installation | Kind = "none",
    ) -> None:
        if horizon < 1:
            raise ValueError(f"horizon = {horizon}; an episode has at least one run")
        if unknown := [name for name in sla if name not in TARGETS]:
            raise ValueError(f"sla limits {', '.join(unknown)}; there are targets for {', '.join(TARGETS)}")
        if not all(limit > 0 for limit in (*sla.values(), 1.0 if budget is None else budget)):
            raise ValueError(f"sla = {dict(sla)}, budget = {budget}; limits are multiples of the reference run, above 0")
        self.horizon, self.drift, self.preference, self.sla, self.budget = horizon, drift, preference, dict(sla), budget
        self.end_at_broken_sla = end_at_broken_sla
        drawn = draw_installation(np.random.default_rng(0), installation) if isinstance(installation, str) else installation
        self.installation: Installation = drawn
        self.action_space = spaces.MultiDiscrete([2 * REACH + 1] * len(LADDERS))
        self.observation_space = spaces.Box(-1.0, 1.0, (len(OBSERVED),), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, dict[str, Any]]:
        """Draw a job that works with today's configuration, and run that once: the reference."""
        super().reset(seed=seed)
        self._weights = self.preference or random_preference(self.np_random)
        self._job = EpisodeJob(self.np_random, self.horizon + 1, self.installation, drift=self.drift)
        self._rungs = self._job.today
        self._runs, self._spent, self._safe = 0, 0.0, self._job.row(self._rungs)
        reference = self._job.run(self._safe, 0, self.np_random)
        self._reference = reference.logs
        self._note(reference)
        return self._observation(), self._info()

    def step(self, action: Action) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Run the job once with the knobs moved."""
        self._rungs = np.clip(self._rungs + np.asarray(action) - REACH, 0, np.array(LENGTHS) - 1)
        self._runs += 1
        run = self._job.run(self._job.row(self._rungs), self._runs, self.np_random)
        self._spent += float(np.exp(run.logs[1] - self._reference[1]))
        self._note(run)
        terminated = self.end_at_broken_sla and bool(self._broken)
        left = self.horizon - self._runs
        reward = -WORST * (1 + left) if terminated else -min(self._regret, WORST)
        return self._observation(), reward, terminated, left <= 0 and not terminated, self._info()

    def _note(self, run: EpisodeRun) -> None:
        row, self._last = self._job.row(self._rungs), run
        charges = self._job.charges(self._weights, self.sla, self._runs)
        self._best = int(np.argmin(np.where(self._job.fails, np.inf, charges)))
        charge = FAILURE * float(charges[self._safe]) if run.failed else float(charges[row])
        self._regret = charge / float(charges[self._best]) - 1
        self._safe = self._safe if run.failed else row
        self._slacks = slacks(run.logs - self._reference, self.sla)
        broken = ["failed"] if run.failed else [name for name, slack in self._slacks.items() if slack < 0]
        self._broken = [*broken, *(["budget"] if self._left() < 0 else [])]

    def _left(self) -> float:
        return 1.0 if self.budget is None else 1.0 - self._spent / self.budget

    def _observation(self) -> Observed:
        run = self._last
        position = (self._rungs - self._job.today) / (np.array(LENGTHS) - 1)
        logs = np.zeros(4) if run.failed else (run.logs - self._reference) / WIDEST
        weights = (self._weights.time, self._weights.cost, self._weights.efficiency)
        slack = [0.0 if run.failed and name in self.sla else self._slacks.get(name, WIDEST) / WIDEST for name in TARGETS]
        progress = [run.failed, self._runs / self.horizon]
        parts = (position, logs, progress, weights, run.utilisation, slack, [self._left()])
        return np.clip(np.concatenate(parts), -1.0, 1.0).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        parameters, best = (self._job.grid.parameters(row) for row in (self._job.row(self._rungs), self._best))
        told = {"regret": self._regret, "failed": self._last.failed, "broken": tuple(self._broken)}
        return {"parameters": parameters, **told, "best": best}


def register() -> None:
    """Make `gymnasium.make("jpo/TrainingJob-v0")` work; calling it again changes nothing."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point="jpo.plugins.lab.environment:TrainingJob")
