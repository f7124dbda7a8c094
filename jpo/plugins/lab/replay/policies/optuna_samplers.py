"""Optuna's samplers with their defaults, through its ask-and-tell interface over the steps of each knob.

Knobs are integers that count steps (batch size 32, 64, 128 is 0, 1, 2), as a careful user would write them. Where a sampler
chooses steps that do not exist together, the closest configuration is run, and its cost is reported to the sampler.
"""

from typing import TYPE_CHECKING

import numpy as np

from jpo.plugins.lab.replay.extras import need
from jpo.plugins.lab.replay.ladders import steps_of
from jpo.plugins.lab.replay.play import ReplayPolicy, ReplayProblem
from jpo.records import Outcome

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.samplers import BaseSampler

SEEDS = 2**32
"""Optuna's generators take smaller seeds only."""


def optuna_tpe(problem: ReplayProblem) -> ReplayPolicy:
    """The tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011), Optuna's default."""
    need("optuna-tpe", "optuna")
    from optuna.samplers import TPESampler

    return OptunaSampler(problem, TPESampler(seed=problem.seed % SEEDS))


def optuna_gp(problem: ReplayProblem) -> ReplayPolicy:
    """A Gaussian process with expected improvement: Optuna's GPSampler."""
    need("optuna-gp", "optuna", "scipy", "torch")
    from optuna.samplers import GPSampler

    return OptunaSampler(problem, GPSampler(seed=problem.seed % SEEDS))


class OptunaSampler:
    """An Optuna study with one open trial at a time, the default's first."""

    def __init__(self, problem: ReplayProblem, sampler: "BaseSampler") -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._names = tuple(problem.configurations[0])
        self._steps = steps_of(problem.configurations)
        self._distributions: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.IntDistribution(0, int(most))
            for name, most in zip(self._names, self._steps.max(axis=0), strict=True)
        }
        self._study = optuna.create_study(sampler=sampler)
        self._study.enqueue_trial(self._as_steps(problem.default))
        self._open: Trial = self._study.ask(self._distributions)

    def ask(self) -> int:
        self._open = self._study.ask(self._distributions)
        wanted = [self._open.params[name] for name in self._names]
        return int(np.argmin(np.abs(self._steps - wanted).sum(axis=1)))

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        from optuna.trial import TrialState, create_trial

        ran = self._as_steps(choice)
        if self._open.params == ran:
            self._study.tell(self._open, charge)
        else:
            self._study.tell(self._open, state=TrialState.FAIL)  # samplers ignore it
            self._study.add_trial(create_trial(params=ran, distributions=self._distributions, value=charge))

    def _as_steps(self, row: int) -> dict[str, int]:
        return dict(zip(self._names, map(int, self._steps[row]), strict=True))
