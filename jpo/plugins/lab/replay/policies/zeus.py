"""Zeus's optimizer of recurring jobs, written from its paper: pruning exploration, then Thompson sampling.

Source: You, Chung, Chowdhury, "Zeus: Understanding and Optimizing GPU Energy Consumption of DNN Training", NSDI 2023, sections
4.3 and 4.4. Its early stop at beta = 2 times the cheapest run is the rule by which every policy is replayed. The paper chooses
batch sizes of one GPU; with more knobs, all configurations are sorted here by batch size, then GPU count, then the others, and
are pruned and sampled like its batch sizes.
"""

from collections.abc import Generator, Sequence

import numpy as np

from jpo.plugins.lab.replay.play import ReplayProblem
from jpo.records import Outcome

ROUNDS = 2
"""Every configuration that converges is explored twice, so that its variance is known."""


class Zeus:
    """Zeus's batch size optimizer over all configurations."""

    def __init__(self, problem: ReplayProblem) -> None:
        first = [name for name in ("batch_size", "gpus") if name in problem.configurations[0]]
        names = [*first, *(name for name in problem.configurations[0] if name not in first)]
        rows = range(len(problem.configurations))
        self._sorted = sorted(rows, key=lambda row: [problem.configurations[row][name] for name in names])
        self._rng = np.random.default_rng(problem.seed)
        self._charges: dict[int, list[float]] = {}
        self._choices = self._choose(problem.default)
        self._next = next(self._choices)  # the default, which is also the first run of every policy

    def ask(self) -> int:
        return self._next

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        assert choice == self._next
        self._charges.setdefault(choice, []).append(charge)
        self._next = self._choices.send(outcome.converged is not False)

    def _choose(self, default: int) -> Generator[int, bool, None]:
        """Choices in turn; each is answered with whether it converged in time."""
        kept: Sequence[int] = self._sorted
        start = default
        for _ in range(ROUNDS):
            kept = yield from _converging(kept, start)
            kept = kept or [default]
            start = min(kept, key=lambda row: float(np.mean(self._charges[row])))
        while True:
            yield min(kept, key=self._sampled_cost)

    def _sampled_cost(self, row: int) -> float:
        """A draw from the posterior of a configuration's mean cost: flat prior, Gaussian, with the observed variance."""
        charges = self._charges[row]
        return float(self._rng.normal(np.mean(charges), np.std(charges) / np.sqrt(len(charges))))


def _converging(kept: Sequence[int], start: int) -> Generator[int, bool, list[int]]:
    """The sorted configurations that converge, explored from `start` down until one fails, then up likewise (section 4.4)."""
    at = kept.index(start)
    good = [start] if (yield start) else []
    for side in (reversed(kept[:at]), iter(kept[at + 1 :])):
        for row in side:
            if not (yield row):
                break
            good.append(row)
    return [row for row in kept if row in good]
