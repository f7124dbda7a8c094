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
BLOCK = 128
"""Samples of an execution that are solved in one go; longer ones in blocks."""
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
    """The most probable path of phases of each execution, shape (samples,).

    Long executions are cut into blocks that are solved side by side for each phase in which a block may begin; which one it is,
    and so the whole path, is found from block to block. The path is exactly that of one pass.
    """
    if max(lengths) <= BLOCK:
        return _side_by_side(chain, log_emissions, lengths)
    blocks = [min(BLOCK, length - begin) for length in lengths for begin in range(0, length, BLOCK)]
    batch = padded(log_emissions, blocks)  # (blocks, BLOCK, k)
    only = np.where(np.eye(chain.phases, dtype=bool), 0.0, -np.inf)  # (begins in, is in)
    best, came = _advance(chain, batch, np.asarray(blocks) - 1, only[None] + batch[:, :1])
    begins, ends = _through_blocks(chain, best, [-(-length // BLOCK) for length in lengths])
    return stacked(_back(came[np.arange(len(blocks)), :, begins], np.asarray(blocks) - 1, ends), blocks)


def _side_by_side(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> Ints:
    """The paths of executions in one pass."""
    batch, ends = padded(log_emissions, lengths), np.asarray(lengths) - 1
    start = np.log(chain.start + 1e-300) + batch[:, 0]
    best, came = _advance(chain, batch, ends, start[:, None, :])
    return stacked(_back(came[:, :, 0], ends, best[:, 0].argmax(1)), lengths)


def _advance(chain: Chain, batch: Floats, ends: Ints, best: Floats) -> tuple[Floats, NDArray[np.int8]]:
    """Scores of the best paths to each phase at the end, shape (rows, ways, k), and from where each came, (rows, time, ways, k).

    Args:
        batch: log emissions, shape (rows, time, k).
        ends: shape (rows,), position of the last sample.
        best: scores at the first sample; there may be several ways to begin.
    """
    moves = np.log(chain.transitions + 1e-300)  # (from, to)
    came = np.zeros((*batch.shape[:2], *best.shape[1:]), dtype=np.int8)
    for t in range(1, batch.shape[1]):
        reached = best[:, :, :1] + moves[0]  # (rows, ways, to); a maximum over a short last axis is slow in numpy
        for phase in range(1, chain.phases):
            other = best[:, :, phase : phase + 1] + moves[phase]
            better = other > reached
            np.copyto(reached, other, where=better)
            np.copyto(came[:, t], phase, where=better)
        reached += batch[:, t, None, :]
        best = np.where((t <= ends)[:, None, None], reached, best)
    return best, came


def _through_blocks(chain: Chain, best: Floats, counts: Sequence[int]) -> tuple[Ints, Ints]:
    """The phase in which each block begins and the one in which it ends, on the best path through all blocks of its execution."""
    moves, k = np.log(chain.transitions + 1e-300), chain.phases
    begins, ends = np.zeros(len(best), dtype=np.int64), np.zeros(len(best), dtype=np.int64)
    first = 0
    for count in counts:
        entered = np.zeros((count, k), dtype=np.int64)  # the phase before, for each in which a block may begin
        way = np.zeros((count, k), dtype=np.int64)  # the one in which it begins, for each in which it may end
        score = np.log(chain.start + 1e-300)
        for block in range(count):
            if block:
                reached = score[:, None] + moves
                entered[block], score = reached.argmax(0), reached.max(0)
            through = score[:, None] + best[first + block]
            way[block], score = through.argmax(0), through.max(0)
        phase = int(score.argmax())
        for block in range(count - 1, -1, -1):
            ends[first + block] = phase
            begins[first + block] = way[block, phase]
            phase = int(entered[block, begins[first + block]])
        first += count
    return begins, ends


def _back(came: NDArray[np.int8], ends: Ints, phase: Ints) -> Ints:
    """Paths that end in these phases, shape (rows, time)."""
    path = np.zeros(came.shape[:2], dtype=np.int64)
    rows = np.arange(len(ends))
    for t in range(came.shape[1] - 1, -1, -1):
        path[:, t] = phase
        if t:
            phase = np.where(t <= ends, came[rows, t, phase], phase)
    return path
