"""Bayesian optimisation by the textbook: a Gaussian process on the log cost of runs, and the largest expected improvement.

Source: Jones, Schonlau, Welch, "Efficient Global Optimization of Expensive Black-Box Functions", J. Global Optimization 1998;
kernel Matern 5/2 as in Snoek, Larochelle, Adams, NeurIPS 2012.
"""

import warnings

import numpy as np

from jpo.plugins.lab.replay.extras import need
from jpo.plugins.lab.replay.ladders import scaled
from jpo.plugins.lab.replay.play import ReplayProblem
from jpo.records import Floats, Outcome


class GaussianProcess:
    """A Gaussian process over knobs as log2 from 0 to 1; length scales and noise are fitted from the second choice on."""

    def __init__(self, problem: ReplayProblem) -> None:
        need("gp-ei", "sklearn", "scipy")
        self._places = scaled(problem.configurations)
        self._rng = np.random.default_rng(problem.seed)
        self._choices: list[int] = []
        self._logs: list[float] = []

    def ask(self) -> int:
        mean, deviation = self._predict()
        improvement = expected_improvement(mean, deviation, best=min(self._logs) - self._logs[0])
        if improvement.max() <= 0:  # nothing can be better
            return int(np.argmin(mean))
        return int(self._rng.choice(np.flatnonzero(improvement >= improvement.max() * (1 - 1e-9))))

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self._choices.append(choice)
        self._logs.append(float(np.log(charge)))

    def _predict(self) -> tuple[Floats, Floats]:
        """Log of the expected cost relative to the first run: mean and standard deviation, both shape (K,)."""
        from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
        from sklearn.gaussian_process import GaussianProcessRegressor  # type: ignore[import-untyped]
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel  # type: ignore[import-untyped]

        lengths = np.full(self._places.shape[1], 0.5)
        kernel = ConstantKernel(1.0, (0.05, 20)) * Matern(lengths, (0.05, 5), nu=2.5) + WhiteKernel(1e-2, (1e-4, 0.3))
        optimizer = "fmin_l_bfgs_b" if len(self._logs) > 2 else None
        process = GaussianProcessRegressor(kernel, optimizer=optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a length scale at its bound is fine
            process.fit(self._places[self._choices], np.array(self._logs) - self._logs[0])
        mean, deviation = process.predict(self._places, return_std=True)
        noise = process.kernel_.k2.noise_level  # of a single run, which no more runs of that configuration reduce
        return mean, np.sqrt(np.maximum(deviation**2 - noise, 0.0))


def expected_improvement(mean: Floats, deviation: Floats, *, best: float) -> Floats:
    """Expected improvement of each configuration on `best`, shape (K,) (Jones et al. 1998, equation 15)."""
    from scipy.stats import norm  # type: ignore[import-untyped]

    deviation = np.maximum(deviation, 1e-12)
    z = (best - mean) / deviation
    return np.asarray((best - mean) * norm.cdf(z) + deviation * norm.pdf(z))
