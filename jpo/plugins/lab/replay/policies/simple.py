"""Baselines: never change anything, and never learn anything."""

import numpy as np

from jpo.plugins.lab.replay.play import ReplayProblem
from jpo.records import Outcome


class Default:
    def __init__(self, problem: ReplayProblem) -> None:
        self._default = problem.default

    def ask(self) -> int:
        return self._default

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        """Nothing is learnt."""


class Random:
    """A random configuration in every run, all equally likely."""

    def __init__(self, problem: ReplayProblem) -> None:
        self._rng = np.random.default_rng(problem.seed)
        self._count = len(problem.configurations)

    def ask(self) -> int:
        return int(self._rng.integers(self._count))

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        """Nothing is learnt."""
