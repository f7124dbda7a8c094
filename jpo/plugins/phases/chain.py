"""Hidden Markov chains over many executions at once: the forward filter and its smoothing, in numpy; best_path.py has the path.

Executions are rows of a padded batch, so that a step in time is one operation for all of them; what lies behind the end of one is
never read. Where a batch would be padding mostly, those of like length have one of their own. Emissions are
Gaussian with a variance of each feature and phase.

Source: Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE 77 (1989), with scaling instead of logarithms in the filter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.phases.traces import Floats, Number

Ints = NDArray[np.int64]
PADDED = 1_000_000
"""Samples, with padding, of all executions, from which those of unlike length are kept apart if most would be padding."""
FARTHEST = 200.0
"""Half a squared distance in standard deviations beyond which all samples are equally strange: exp(-200) is still a number."""


@dataclass(frozen=True, eq=False, slots=True)
class Chain:
    """A hidden Markov chain of k phases over d features.

    Attributes:
        start: shape (k,), sums to 1.
        transitions: shape (k, k), rows sum to 1: from the phase of a sample to that of the next.
        means, variances: shape (k, d).
    """

    start: Floats
    transitions: Floats
    means: Floats
    variances: Floats

    def __post_init__(self) -> None:
        k = len(self.start)
        assert self.transitions.shape == (k, k)
        assert self.means.shape == self.variances.shape == (k, self.means.shape[1])

    @property
    def phases(self) -> int:
        return len(self.start)

    def log_emissions(self, scaled: Floats) -> Floats:
        """Log densities of samples, shape (..., d) -> (..., k); no phase is impossible."""
        features = zip(np.moveaxis(scaled, -1, 0), self.means.T, self.variances.T, strict=True)
        away = reduce(np.add, ((value[..., None] - mean) ** 2 / variance for value, mean, variance in features))
        density: Floats = -np.minimum(away / 2, FARTHEST) - 0.5 * np.log(2 * np.pi * self.variances).sum(-1)
        return density


def padded(rows: Floats, lengths: Sequence[int] | Ints) -> Floats:
    """Stacked rows, shape (samples, k), as (executions, longest, k); what is behind an execution's end is 0."""
    batch = np.zeros((len(lengths), np.max(lengths), rows.shape[1]))
    batch[_inside(lengths)] = rows
    return batch


def stacked(batch: NDArray[Number], lengths: Sequence[int] | Ints) -> NDArray[Number]:
    """The way back: (executions, longest, ...) as (samples, ...)."""
    return batch[_inside(lengths)]


def _inside(lengths: Sequence[int] | Ints) -> NDArray[np.bool_]:
    return np.arange(np.max(lengths)) < np.asarray(lengths)[:, None]


def alike(lengths: Sequence[int] | Ints) -> Iterator[tuple[Ints | slice, Ints]]:
    """Executions that share a batch, each batch as the rows of its samples and the lengths of its executions: all in one, or,
    where that would be padding mostly, those of which none is twice as long as another."""
    each = np.asarray(lengths)
    if len(each) * each.max() <= max(PADDED, 2 * each.sum()):
        yield slice(None), each
        return
    size = np.frexp(each)[1]
    for one in np.unique(size):
        yield np.flatnonzero(np.repeat(size == one, each)), each[size == one]


def entries(phases: Ints) -> Ints:
    """At which samples of an execution a stay in a phase begins."""
    return np.flatnonzero(np.r_[True, phases[1:] != phases[:-1]])


def forward(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
    """The filter: probabilities of the phases given all samples so far, from log emissions; both of shape (samples, k).

    Beside them the log density of each sample given those before it, shape (samples,).
    """
    filtered, densities = np.empty_like(log_emissions), np.empty(len(log_emissions))
    for rows, some in alike(lengths):
        filtered[rows], densities[rows] = _forward(chain, log_emissions[rows], some)
    return filtered, densities


def _forward(chain: Chain, log_emissions: Floats, lengths: Ints) -> tuple[Floats, Floats]:
    highest = log_emissions.max(axis=1, keepdims=True)
    likelihoods = padded(np.exp(log_emissions - highest), lengths)  # (executions, longest, k)
    filtered = np.empty_like(likelihoods)
    evidence = np.empty(likelihoods.shape[:2])
    expected = np.broadcast_to(chain.start, likelihoods[:, 0].shape)
    for t in range(likelihoods.shape[1]):
        filtered[:, t], evidence[:, t] = step(expected, likelihoods[:, t])
        expected = filtered[:, t] @ chain.transitions
    return stacked(filtered, lengths), np.log(stacked(evidence, lengths)) + highest[:, 0]


def step(expected: Floats, likelihoods: Floats) -> tuple[Floats, Floats]:
    """One sample of the filter: what was expected of the phases, and what the sample says; shapes (..., k)."""
    joint = expected * likelihoods + 1e-300  # what contradicts every expectation must not end in 0 / 0
    evidence = joint.sum(-1)
    return joint / evidence[..., None], evidence


def smooth(chain: Chain, log_emissions: Floats, lengths: Sequence[int] | Ints) -> tuple[Floats, Floats]:
    """Probabilities of the phases given whole executions, shape (samples, k), and expected transitions, shape (k, k)."""
    smoothed, counts = np.empty_like(log_emissions), np.zeros_like(chain.transitions)
    for rows, some in alike(lengths):
        smoothed[rows], expected = _smooth(chain, log_emissions[rows], some)
        counts += expected
    return smoothed, counts


def _smooth(chain: Chain, log_emissions: Floats, lengths: Ints) -> tuple[Floats, Floats]:
    filtered = padded(_forward(chain, log_emissions, lengths)[0], lengths)
    likelihoods = padded(np.exp(log_emissions - log_emissions.max(axis=1, keepdims=True)), lengths)
    ends = lengths - 1
    smoothed = filtered.copy()
    counts = np.zeros_like(chain.transitions)
    after = np.ones_like(filtered[:, 0])
    for t in range(filtered.shape[1] - 2, -1, -1):
        going = (t < ends)[:, None]
        weighed = likelihoods[:, t + 1] * after
        joint = filtered[:, t][:, :, None] * chain.transitions * weighed[:, None, :]  # (executions, from, to)
        joint /= joint.sum((1, 2), keepdims=True) + 1e-300
        counts += (joint * going[:, :, None]).sum(0)
        smoothed[:, t] = np.where(going, joint.sum(2), smoothed[:, t])
        before = weighed @ chain.transitions.T
        after = np.where(going, before / (before.max(1, keepdims=True) + 1e-300), 1.0)
    return stacked(smoothed, lengths), counts
