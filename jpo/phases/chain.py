"""Hidden Markov chains over many executions at once: the forward filter, its smoothing, and the most probable path, in numpy.

Executions are rows of a padded batch, so that a step in time is one operation for all of them; what lies behind the end of one is
never read. Emissions are Gaussian with a variance of each feature and phase.

Source: Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE 77 (1989), with scaling instead of logarithms in the filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jpo.phases.traces import Floats

Ints = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)
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
        away = ((scaled[..., None, :] - self.means) ** 2 / self.variances).sum(-1) / 2
        density: Floats = -np.minimum(away, FARTHEST) - 0.5 * np.log(2 * np.pi * self.variances).sum(-1)
        return density


def padded(rows: Floats, lengths: Sequence[int]) -> Floats:
    """Stacked rows, shape (samples, k), as (executions, longest, k); what is behind an execution's end is 0."""
    batch = np.zeros((len(lengths), max(lengths), rows.shape[1]))
    batch[_inside(lengths)] = rows
    return batch


def stacked(batch: NDArray[Number], lengths: Sequence[int]) -> NDArray[Number]:
    """The way back: (executions, longest, ...) as (samples, ...)."""
    rows: NDArray[Number] = batch[_inside(lengths)]
    return rows


def _inside(lengths: Sequence[int]) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.arange(max(lengths)) < np.asarray(lengths)[:, None]
    return inside


def forward(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
    """The filter: probabilities of the phases given all samples so far.

    Args:
        log_emissions: shape (samples, k), execution after execution.

    Returns:
        Probabilities, shape (samples, k), and the log density of each sample given those before it, shape (samples,).
    """
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


def smooth(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
    """Probabilities of the phases given whole executions, shape (samples, k), and expected transitions, shape (k, k)."""
    filtered = padded(forward(chain, log_emissions, lengths)[0], lengths)
    likelihoods = padded(np.exp(log_emissions - log_emissions.max(axis=1, keepdims=True)), lengths)
    ends = np.asarray(lengths) - 1
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


def viterbi(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> Ints:
    """The most probable path of phases of each execution, shape (samples,)."""
    batch = padded(log_emissions, lengths)
    moves = np.log(chain.transitions + 1e-300).T  # (to, from)
    best = np.log(chain.start + 1e-300) + batch[:, 0]
    came = np.zeros(batch.shape, dtype=np.int8)
    ends = np.asarray(lengths) - 1
    for t in range(1, batch.shape[1]):
        reached = best[:, None, :] + moves  # (executions, to, from)
        came[:, t] = reached.argmax(2)
        going = (t <= ends)[:, None]
        best = np.where(going, reached.max(2) + batch[:, t], best)
    path = np.zeros(batch.shape[:2], dtype=np.int64)
    rows = np.arange(len(ends))
    phase = best.argmax(1)
    for t in range(batch.shape[1] - 1, -1, -1):
        path[:, t] = phase
        if t:
            phase = np.where(t <= ends, came[rows, t, phase], phase)
    return stacked(path, lengths)
