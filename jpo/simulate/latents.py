"""The random numbers that make one simulated job different from another: each has a name, a stream of its own and a prior.

The name is what lets finished jobs have a say: for every number the prior knows which parts of its range real jobs came from
(empirical Bayes). The stream is what makes job 17 of a seed the same job on every set of candidates.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jpo.records import Bools, Floats

RangeWeights = Mapping[str, tuple[float, ...]]
"""Name -> weights of equal parts of the range 0..1, in which every number is drawn before it is given its meaning; a name that is
missing is uniform. Weights are positive and need not sum to 1."""

UNIFORM: RangeWeights = {}


@dataclass(frozen=True, eq=False, slots=True)
class Latents:
    """Draws the numbers of `jobs` jobs.

    Attributes:
        seed: the same seed gives the same numbers under every name, whatever else is drawn.
        drawn: name -> shape (J,), where in 0..1 each job's number lies: what a posterior over jobs says about it is what the
            prior learns from.
    """

    jobs: int
    seed: int
    prior: RangeWeights = field(default_factory=dict)
    drawn: dict[str, Floats] = field(default_factory=dict)

    def uniform(self, name: str, low: float, high: float) -> Floats:
        """One number per job, shape (J, 1)."""
        return low + (high - low) * self._place(name)

    def log_uniform(self, name: str, low: float, high: float) -> Floats:
        """One number per job, shape (J, 1), its logarithm uniform."""
        return np.asarray(np.exp(self.uniform(name, float(np.log(low)), float(np.log(high)))))

    def happens(self, name: str, probability: float) -> Bools:
        """One yes or no per job, shape (J, 1)."""
        return np.asarray(self._place(name) < probability)

    def rng(self, name: str) -> np.random.Generator:
        """A stream for what has no single number per job."""
        return np.random.default_rng((self.seed, zlib.crc32(name.encode())))

    def _place(self, name: str) -> Floats:
        """Shape (J, 1), in 0..1, distributed as the prior says: the inverse of its cumulated weights."""
        place = self.rng(name).random(self.jobs)
        if name in self.prior:
            weights = np.array(self.prior[name])
            cumulated = np.concatenate(([0.0], np.cumsum(weights) / weights.sum()))
            place = np.interp(place, cumulated, np.linspace(0, 1, len(cumulated)))
        self.drawn[name] = place
        return place[:, None]
