"""The default method: k-means finds the levels, a sticky hidden Markov chain on top says how long a phase lasts and what follows.

Samples alone would change their phase with every flicker: the chain asks for as much evidence as a change is rare. The levels'
centres stay the chain's means, so that a phase keeps its level; what the chain learns is how wide the levels are and how phases
follow each other. scikit-learn's conventions hold: X is (samples, features) in raw units, `lengths` names the executions in it.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from jpo.plugins.phases.best_path import viterbi
from jpo.plugins.phases.chain import Chain, Ints, forward, smooth
from jpo.plugins.phases.extra import need
from jpo.plugins.phases.features import Scaler, fit_scaler
from jpo.plugins.phases.levels import FINEST, find_levels
from jpo.plugins.phases.traces import Floats

STICKY = 10.0
"""Samples by which each phase is believed to stay itself before any is seen."""
RARE = 0.1
"""Of each other transition: none is impossible."""
PASSES = 5
"""Of expectation maximisation over transitions and variances; the means are kept, so that few are enough."""
MOST_LEARNT, FEWEST_LEARNT = 200_000, 1000
"""Samples, of at least as many executions, from which it learns where there are more: evenly taken. Levels are of all."""


class MarkovPhases:
    """Phases by k-means and a sticky hidden Markov chain.

    Args:
        n_phases: how many; None: as a Bayesian criterion has it, 2 to 10.
        names: of the features; None: x0, x1, ... What ends in `_bytes` counts by its logarithm.
        random_state: same seed and traces, same phases.

    `scaler_`: how samples are scaled; `chain_`: the chain over scaled samples.
    """

    def __init__(self, n_phases: int | None = None, names: Sequence[str] | None = None, random_state: int = 0) -> None:
        self.n_phases = n_phases
        self.names = names
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The arguments of the constructor, as scikit-learn asks for them."""
        return {"n_phases": self.n_phases, "names": self.names, "random_state": self.random_state}

    def set_params(self, **params: object) -> Self:
        for name, value in params.items():
            assert name in self.get_params(), name
            setattr(self, name, value)
        return self

    def fit(self, X: Floats, y: object = None, lengths: Sequence[int] | None = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Find the phases of executions, one behind the other in X; `y` is not used.

        Raises UsageError: JPO-E733, scikit-learn is not installed; JPO-E735, every feature is constant.
        """
        need("a fit of phases", "sklearn")
        lengths = lengths or (len(X),)
        names = self.names or tuple(f"x{at}" for at in range(X.shape[1]))
        self.scaler_: Scaler = fit_scaler(X, names)
        scaled = self.scaler_.transform(X)
        self.chain_: Chain = fit_chain(scaled, find_levels(scaled, self.n_phases, self.random_state), lengths)
        return self

    def predict(self, X: Floats, lengths: Sequence[int] | None = None) -> Ints:  # noqa: N803
        """The most probable path of phases, shape (samples,)."""
        return viterbi(self.chain_, self._emissions(X), lengths or (len(X),))

    def fit_predict(self, X: Floats, y: object = None, lengths: Sequence[int] | None = None) -> Ints:  # noqa: N803
        """The phases of the executions that were fitted."""
        return self.fit(X, y, lengths).predict(X, lengths)

    def predict_proba(self, X: Floats, lengths: Sequence[int] | None = None) -> Floats:  # noqa: N803
        """Probabilities of the phases given whole executions, shape (samples, k)."""
        return smooth(self.chain_, self._emissions(X), lengths or (len(X),))[0]

    def transform(self, X: Floats) -> Floats:  # noqa: N803
        """Distances of scaled samples to the level of each phase, shape (samples, k)."""
        scaled = self.scaler_.transform(X)
        distances: Floats = np.linalg.norm(scaled[:, None, :] - self.chain_.means, axis=2)
        return distances

    def score(self, X: Floats, y: object = None, lengths: Sequence[int] | None = None) -> float:  # noqa: N803
        """Mean log density of a sample given those before it; larger is better."""
        return float(forward(self.chain_, self._emissions(X), lengths or (len(X),))[1].mean())

    def _emissions(self, values: Floats) -> Floats:
        return self.chain_.log_emissions(self.scaler_.transform(values))


def fit_chain(scaled: Floats, labels: Ints, lengths: Sequence[int]) -> Chain:
    """The sticky chain over given levels, 0 .. k-1 of each sample: their means stay."""
    k = int(labels.max()) + 1
    each = np.asarray(lengths)
    firsts = np.cumsum(each) - each
    weights = np.eye(k)[labels]
    stays = np.ones(len(labels), dtype=bool)
    stays[firsts] = False  # the first sample of an execution follows none
    counts = np.zeros((k, k))
    np.add.at(counts, (labels[:-1][stays[1:]], labels[1:][stays[1:]]), 1)
    means = (weights.T @ scaled) / weights.sum(0)[:, None]
    chain = _chain(scaled, weights, counts, means, firsts)
    every = max(1, min(-(-len(labels) // MOST_LEARNT), len(each) // FEWEST_LEARNT))
    some, each = scaled[np.repeat(np.arange(len(each)) % every == 0, each)], each[::every]
    firsts = np.cumsum(each) - each
    for _ in range(PASSES):
        weights, counts = smooth(chain, chain.log_emissions(some), each)
        chain = _chain(some, weights, counts, means, firsts)
    return chain


def _chain(scaled: Floats, weights: Floats, counts: Floats, means: Floats, firsts: Ints) -> Chain:
    """What is expected of start, transitions and variances under given weights of the phases."""
    k = len(means)
    n = weights.sum(0)[:, None] + 1e-9
    variances = (weights.T @ scaled**2 - 2 * means * (weights.T @ scaled) + means**2 * n) / n
    start = weights[firsts].sum(0) + 0.5
    transitions = counts + RARE + STICKY * np.eye(k)
    return Chain(start / start.sum(), transitions / transitions.sum(1, keepdims=True), means, np.maximum(variances, FINEST**2))
