"""Phases by hmmlearn: a Gaussian hidden Markov model trained by expectation maximisation, whose means move with it.

It begins with the levels of levels.py, and so has as many phases as they are. Against `markov` it fits single traces more
closely; under noise its means drift into each other.
"""

from collections.abc import Sequence

import numpy as np

from jpo.plugins.phases.chain import Chain, Ints
from jpo.plugins.phases.extra import need
from jpo.plugins.phases.levels import FINEST
from jpo.plugins.phases.traces import Floats

PASSES = 50
"""Of expectation maximisation at most."""


def fit_hmm(scaled: Floats, labels: Ints, lengths: Sequence[int], seed: int) -> Chain:
    """The chain that hmmlearn finds; `labels`: levels to begin with. Raises UsageError: JPO-E733, hmmlearn is not installed."""
    need("the method hmm", "hmmlearn")
    from hmmlearn.hmm import GaussianHMM  # type: ignore[import-untyped]

    k = int(labels.max()) + 1
    hmm = GaussianHMM(k, "diag", min_covar=FINEST**2, n_iter=PASSES, random_state=seed, init_params="st")
    hmm.means_ = np.array([scaled[labels == phase].mean(0) for phase in range(k)])
    hmm.covars_ = np.array([np.maximum(scaled[labels == phase].var(0), FINEST**2) for phase in range(k)])
    hmm.fit(scaled, lengths)
    variances = np.maximum(np.array([np.diag(covariance) for covariance in hmm.covars_]), FINEST**2)
    transitions = hmm.transmat_ + 1e-6  # a phase that was never left, or never reached, must stay possible
    start = hmm.startprob_ + 1e-6
    return Chain(start / start.sum(), transitions / transitions.sum(1, keepdims=True), np.asarray(hmm.means_), variances)
