"""Weights of particles from their log-likelihoods, flattened so that no particle counts alone."""

from collections.abc import Sequence

import numpy as np

from jpo.records import Floats


def flattened(log_likelihood: Floats, least_share: float) -> Floats:
    """Normalised weights (J,): the likelihood raised to the largest power <= 1 at which enough particles count.

    `least_share`: smallest effective sample size, as a share of the particles in 0..1.
    """
    return softmax(flattening(log_likelihood, least_share) * log_likelihood)


def flattening(log_likelihood: Floats, least_share: float) -> float:
    """The power of `flattened`, 0..1."""
    if effective_share(softmax(log_likelihood)) >= least_share:
        return 1.0
    below = log_likelihood - log_likelihood.max()
    low, high = 0.0, 1.0
    for _ in range(20):
        power = (low + high) / 2
        weights = np.exp(power * below)
        enough = weights.sum() ** 2 >= least_share * len(weights) * (weights @ weights)  # effective_share, not normalised
        low, high = (power, high) if enough else (low, power)
    return low


def softmax(logs: Floats) -> Floats:
    """Softmax: exp(logs) normalised to sum to 1, (J,)."""
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def log_mean_exp(logs: Floats) -> float:
    """ln of the mean of exp(logs)."""
    return float(np.log(np.mean(np.exp(logs - logs.max()))) + logs.max())


def quantiles(values: Floats, weights: Floats, probabilities: Sequence[float]) -> list[float]:
    """Quantiles of weighted values, (J,) each: the smallest values at or below which there is so much of the weight."""
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    at = np.minimum(np.searchsorted(cumulated, np.array(probabilities) * cumulated[-1]), len(values) - 1)
    return [float(values[order[i]]) for i in at]


def effective_share(weights: Floats) -> float:
    """Kish's effective sample size as a share of the particles, 0..1."""
    return float(1 / np.sum(weights**2) / len(weights))
