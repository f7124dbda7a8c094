"""Latents: the random numbers that make simulated jobs differ, each with a name and a random stream of its own.

By these streams, job 17 of a seed is the same on all candidate sets.
"""

import zlib
from dataclasses import dataclass, field

import numpy as np

from jpo.records import Bools, Floats


@dataclass(frozen=True, eq=False, slots=True)
class Latents:
    """The latents of `jobs` jobs, drawn when they are asked for.

    Attributes:
        seed: the same seed gives the same numbers under every name, in any order of draws.
        drawn: name -> shape (J,), position of each job in 0..1, once it is drawn or where it is given.
    """

    jobs: int
    seed: int
    drawn: dict[str, Floats] = field(default_factory=dict)

    def uniform(self, name: str, low: float, high: float) -> Floats:
        """A latent that is uniform in low..high, shape (J, 1)."""
        return low + (high - low) * self._position(name)

    def log_uniform(self, name: str, low: float, high: float) -> Floats:
        """A latent whose logarithm is uniform, shape (J, 1)."""
        return np.asarray(np.exp(self.uniform(name, float(np.log(low)), float(np.log(high)))))

    def happens(self, name: str, probability: float) -> Bools:
        """A latent that is true with this probability, shape (J, 1)."""
        return np.asarray(self._position(name) < probability)

    def rng(self, name: str) -> np.random.Generator:
        """A random stream for what is not a single number per job."""
        return np.random.default_rng((self.seed, zlib.crc32(name.encode())))

    def _position(self, name: str) -> Floats:
        """Position of each job in 0..1, shape (J, 1)."""
        if name not in self.drawn:
            self.drawn[name] = self.rng(name).random(self.jobs)
        return self.drawn[name][:, None]
