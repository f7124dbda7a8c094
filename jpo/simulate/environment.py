"""A Gymnasium environment of simulated training jobs, for training other agents.

    import gymnasium
    from jpo.simulate.environment import register

    register()
    env = gymnasium.make("jpo/TrainingJob-v0", horizon=20, drift=True)

One episode is one simulated job, one step is one run of it. Needs `pip install "jpo[simulate]"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jpo.errors import UsageError
from jpo.records import NAMED_PREFERENCES, Candidates, Draws, Preference
from jpo.simulate.drift import Drift, batch_effect, draw_drift
from jpo.simulate.jobs import draw_jobs
from jpo.simulate.runs import draw_noise, observe

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    finding = "needs gymnasium, which is not installed"
    raise UsageError("jpo/TrainingJob-v0", finding, 'pip install "jpo[simulate]"', code="JPO-E710") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from jpo.records import Floats

    Action = NDArray[np.int64]
    Observed = NDArray[np.float32]

ID = "jpo/TrainingJob-v0"
LADDERS = {
    "batch_size": tuple(16.0 * 2**i for i in range(7)),
    "learning_rate": tuple(0.001 * 10 ** (i / 2) for i in range(-2, 3)),
    "gpus": (1.0, 2.0, 4.0, 8.0),
    "cpus": (4.0, 8.0, 16.0, 32.0),
}
"""The knobs and their values; 560 configurations."""
REACH = 2
"""Largest move of one step on each ladder, in rungs: a factor of 4, as the guard allows by default."""
WIDEST = 6.0
"""Largest natural log of a ratio in an observation; the simulator draws none that is larger."""
WORST = 3.0
"""Regret is clipped at three optimal runs."""
_FAILURE, _LOSS_TOLERANCE, _LOSS_WEIGHT = float(np.log(2.0)), float(np.log(1.02)), 3.0
_PRICES = {"gpus": 2.1, "cpus": 0.04}
"""Relative prices per hour; each varies by a factor of 3 from job to job."""


class TrainingJob(gymnasium.Env["Observed", "Action"]):
    """A recurring training job whose next configuration is chosen after each run.

    Action, MultiDiscrete: for each knob of LADDERS the number of rungs to move from the last run's value, 0 .. 2 REACH with REACH
    = stay; beyond the ends of a ladder the end counts. Nothing is refused: a configuration that fails is a run that failed.

    Observation, Box of float32 (all in -1..1):
        one per knob  position relative to today's, in ladder lengths
        4             time, cost, utilisation, loss of the last run: ln ratio to the reference run / WIDEST; 0 if it failed
        1             1 if the last run failed
        1             share of the horizon that is over
        3             the user's weights of time, cost and efficiency

    Reward: minus the regret of the run, cut to -3..0: -min(exp(J(run) - J(best)) - 1, 3), where
        J = w_time log_time + w_cost (log_time + log_rate) - w_efficiency log_utilisation + 3 max(log_loss - ln 1.02, 0)
    without noise, and `best` is the best configuration of that run, which the simulator knows. A failed run counts as two runs of
    the last configuration that ended well. On average moves at random earn -2.3 a run and staying -1.4.

    An episode is truncated after `horizon` runs, not counting the reference run, and never terminates. With `drift` data grow and
    hardware changes (see drift.py). `info`: parameters, regret, failed, and `best`, the parameters of the oracle.

    Args:
        horizon: runs per episode, at least 1.
        preference: the user's; None: one of time, cost, balanced, or random weights, drawn for each episode.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own convention

    def __init__(self, *, horizon: int = 20, drift: bool = False, preference: Preference | None = None) -> None:
        if horizon < 1:
            raise ValueError(f"horizon = {horizon}; an episode has at least one run")
        self.horizon, self.drift, self.preference = horizon, drift, preference
        self.action_space = spaces.MultiDiscrete([2 * REACH + 1] * len(LADDERS))
        self.observation_space = spaces.Box(-1.0, 1.0, (len(LADDERS) + 9,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observed, dict[str, Any]]:
        """Draw a job that works with today's configuration, and run that once: the reference."""
        super().reset(seed=seed)
        self._weights = self.preference or _random_preference(self.np_random)
        self._job = _EpisodeJob(self.np_random, self.horizon + 1, drift=self.drift)
        self._rungs = self._today = self._job.today
        self._runs, self._safe = 0, self._job.row(self._today)
        self._run()
        return self._observation(), self._info()

    def step(self, action: Action) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Run the job once with the knobs moved."""
        highest = np.array([len(ladder) - 1 for ladder in LADDERS.values()])
        self._rungs = np.clip(self._rungs + np.asarray(action) - REACH, 0, highest)
        self._runs += 1
        self._run()
        return self._observation(), -min(self._regret, WORST), False, self._runs >= self.horizon, self._info()

    def _run(self) -> None:
        """Run the configuration; keep its outcome relative to the reference run, and its regret."""
        job, row = self._job, self._job.row(self._rungs)
        run = observe(job.draws, 0, row, self.np_random, noise=job.noise)
        slower, harder = job.drifted(self._runs)
        objective = job.objective(self._weights, harder)
        time = run.log_time + slower + float(harder[row])
        outcome = np.array([time, time + job.log_rate[row], run.log_utilisation, run.log_loss])
        if self._runs == 0:
            self._reference = outcome
        self._outcome = np.zeros(4) if run.failed and self._runs else outcome - self._reference
        works = np.where(job.draws.fails[0], np.inf, objective)
        self._best = int(np.argmin(works))
        charged = objective[self._safe] + _FAILURE if run.failed else objective[row]
        self._regret = float(np.expm1(min(charged - works[self._best], WIDEST)))
        self._failed = run.failed
        if not run.failed:
            self._safe = row

    def _observation(self) -> Observed:
        lengths = np.array([len(ladder) - 1 for ladder in LADDERS.values()])
        weights = (self._weights.time, self._weights.cost, self._weights.efficiency)
        progress = [self._failed, self._runs / self.horizon]
        parts = ((self._rungs - self._today) / lengths, self._outcome / WIDEST, progress, weights)
        return np.clip(np.concatenate(parts), -1.0, 1.0).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        parameters, best = (self._job.grid.parameters(row) for row in (self._job.row(self._rungs), self._best))
        return {"parameters": parameters, "regret": self._regret, "failed": self._failed, "best": best}


class _EpisodeJob:
    """The job of one episode, with its truth on the whole grid."""

    def __init__(self, rng: np.random.Generator, runs: int, *, drift: bool) -> None:
        axes = np.meshgrid(*LADDERS.values(), indexing="ij")
        values = np.stack([axis.ravel() for axis in axes], axis=1)  # (K, P)
        lengths = [len(ladder) for ladder in LADDERS.values()]
        while True:
            self.today = rng.integers(0, lengths)
            current = self.row(self.today)
            price = np.array([_PRICES.get(name, 0.0) * 3.0 ** rng.uniform(-1, 1) for name in LADDERS])
            self.log_rate: Floats = np.log(values @ price / (values[current] @ price))
            self.grid = Candidates(tuple(LADDERS), values, current, np.ones(len(values), dtype=np.bool_), self.log_rate)
            self.draws: Draws = draw_jobs(self.grid, 1, rng)
            if not self.draws.fails[0, current]:
                break
        self.noise = draw_noise(rng)
        self.drift: Drift | None = draw_drift(1, runs, rng) if drift else None

    def row(self, rungs: NDArray[np.int64]) -> int:
        """The row of the grid at some rungs of the ladders."""
        return int(np.ravel_multi_index(tuple(rungs), tuple(len(ladder) for ladder in LADDERS.values())))

    def drifted(self, run: int) -> tuple[float, Floats]:
        """The drift of ln time: common to all configurations, and of each one, (K,)."""
        if self.drift is None:
            return 0.0, np.zeros(len(self.log_rate))
        batch = np.log2(self.grid.values[:, 0] / self.grid.values[self.grid.current, 0])
        return float(self.drift.log_time[0, run]), batch_effect(self.drift, 0, run, batch)

    def objective(self, weights: Preference, harder: Floats) -> Floats:
        """J of every configuration without noise, (K,); effects on all alike (a slower pool) are left out."""
        time = self.draws.log_time[0] + harder
        worse = np.maximum(self.draws.log_loss[0] - _LOSS_TOLERANCE, 0.0)
        paid = weights.time * time + weights.cost * (time + self.log_rate)
        return np.asarray(paid - weights.efficiency * self.draws.log_utilisation[0] + _LOSS_WEIGHT * worse)


def _random_preference(rng: np.random.Generator) -> Preference:
    if rng.random() < 0.7:
        return NAMED_PREFERENCES[("time", "cost", "balanced")[rng.integers(3)]]
    return Preference(*map(float, rng.dirichlet(np.ones(3))))


def register() -> None:
    """Make `gymnasium.make("jpo/TrainingJob-v0")` work; calling it again changes nothing."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point="jpo.simulate.environment:TrainingJob")
