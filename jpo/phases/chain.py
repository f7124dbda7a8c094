"""Hidden Markov chains over many executions at once: the forward filter, its smoothing, and the most probable path, in numpy.

Executions are rows of a padded batch, so that a step in time is one operation for all of them; what lies behind the end of one is
never read. Where a batch would be padding mostly, those of like length have one of their own. Emissions are
Gaussian with a variance of each feature and phase.

Source: Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE 77 (1989), with scaling instead of logarithms in the filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jpo.phases.traces import Floats

Ints = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)
BLOCK = 128
"""Samples of an execution that are solved in one go; longer ones in blocks."""
GUESSES = 3
"""How often the ends of all blocks are looked at before each phase in which a block may begin is."""
ALIKE = 1e-7
"""Difference of log densities that is rounding."""
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


def alike(lengths: Sequence[int]) -> Iterator[tuple[Ints | slice, list[int]]]:
    """Executions that share a batch, each batch as the rows of its samples and the lengths of its executions: all in one, or,
    where that would be padding mostly, those of which none is twice as long as another."""
    each = np.asarray(lengths)
    if len(each) * each.max() <= max(PADDED, 2 * each.sum()):
        yield slice(None), [*lengths]
        return
    size = np.frexp(each)[1]
    for one in np.unique(size):
        yield np.flatnonzero(np.repeat(size == one, each)), each[size == one].tolist()


def forward(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
    """The filter: probabilities of the phases given all samples so far.

    Args:
        log_emissions: shape (samples, k), execution after execution.

    Returns:
        Probabilities, shape (samples, k), and the log density of each sample given those before it, shape (samples,).
    """
    filtered, densities = np.empty_like(log_emissions), np.empty(len(log_emissions))
    for rows, some in alike(lengths):
        filtered[rows], densities[rows] = _forward(chain, log_emissions[rows], some)
    return filtered, densities


def _forward(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
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
    smoothed, counts = np.empty_like(log_emissions), np.zeros_like(chain.transitions)
    for rows, some in alike(lengths):
        smoothed[rows], expected = _smooth(chain, log_emissions[rows], some)
        counts += expected
    return smoothed, counts


def _smooth(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
    filtered = padded(_forward(chain, log_emissions, lengths)[0], lengths)
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

    Executions are cut into blocks that are solved side by side. How good it is to enter a block in each phase depends on those
    before; mostly the last samples say it already. So all blocks are entered as if nothing came before, and again with what that
    says at their ends. Where the ends stay they are right, from the first block on; else each phase in which a block may begin
    is looked at. The same holds for the way back. The path is exactly that of one pass.
    """
    blocks = [min(BLOCK, length - begin) for length in lengths for begin in range(0, length, BLOCK)]
    firsts = np.cumsum([0, *(-(-length // BLOCK) for length in lengths[:-1])])
    moves, last = np.log(chain.transitions + 1e-300), np.asarray(blocks) - 1
    batch = np.ascontiguousarray(padded(log_emissions, blocks).transpose(1, 2, 0))  # (time, k, blocks)
    start = np.log(chain.start + 1e-300)
    entered = _entered(np.zeros((chain.phases, len(blocks))), moves, firsts, start)
    scores = _scores(batch, entered, moves)
    for _ in range(GUESSES):
        guessed, entered = entered, _entered(_ends(scores, last), moves, firsts, start)
        if np.allclose(entered, guessed, rtol=0, atol=ALIKE):
            return stacked(_paths(scores, moves, last, firsts), blocks)
        scores = _scores(batch, entered, moves)
    scores = _scores(batch, _entered_after_all(batch, last, moves, firsts, start), moves)
    return stacked(_paths_after_all(scores, moves, last, firsts), blocks)


def _scores(batch: Floats, entered: Floats, moves: Floats) -> Floats:
    """Log densities of the best paths to each phase at each sample, shape (time, k, rows).

    Args:
        batch: log emissions, shape (time, k, rows).
        entered: shape (k, rows), log densities of the best paths that enter each phase at the first sample.
        moves: shape (k, k), log probabilities from phase to phase.
    """
    scores, ways = np.empty_like(batch), np.empty((len(moves), *entered.shape))
    np.add(entered, batch[0], out=scores[0])
    for t in range(1, len(batch)):
        np.add(scores[t - 1][:, None, :], moves[:, :, None], out=ways)  # (from, to, rows)
        np.maximum.reduce(ways, axis=0, out=scores[t])
        scores[t] += batch[t]
    return scores


def _ends(scores: Floats, last: Ints) -> Floats:
    """Scores at the last sample of each row, shape (k, rows)."""
    ends: Floats = scores[last, :, np.arange(len(last))].T
    return ends


def _entered(ends: Floats, moves: Floats, firsts: Ints, start: Floats) -> Floats:
    """How good it is to enter each phase, by the scores at the end of the block before; the best one counts 0."""
    entered: Floats = np.roll((ends[:, None, :] + moves[:, :, None]).max(0), 1, axis=1)
    entered[:, firsts] = start[:, None]
    entered -= entered.max(0)
    return entered


def _entered_after_all(batch: Floats, last: Ints, moves: Floats, firsts: Ints, start: Floats) -> Floats:
    """The same from block to block, where the end of a block depends on what came long before."""
    k = len(moves)
    one = np.where(np.eye(k, dtype=bool), 0.0, -np.inf)
    through = np.stack([_ends(_scores(batch, np.tile(one[:, [way]], len(last)), moves), last) for way in range(k)])
    ends = np.zeros((k, len(last)))
    begins = set(firsts.tolist())
    for block in range(len(last)):
        before = start if block in begins else (ends[:, block - 1, None] + moves).max(0)
        ends[:, block] = (before[:, None] + through[:, :, block]).max(0)
    return _entered(ends, moves, firsts, start)


def _paths(scores: Floats, moves: Floats, last: Ints, firsts: Ints) -> Ints:
    """The best path through each block, shape (rows, time); a block ends in the phase from which the next one's path comes."""
    came = _came(_ends(scores, last), moves)  # for each phase in which the next block may begin
    is_last = np.zeros(len(last), dtype=bool)  # of an execution
    is_last[firsts - 1] = True
    end: Ints = _ends(scores, last).argmax(0)
    paths, wrong = np.empty((len(last), len(scores)), dtype=np.int64), np.arange(len(last))
    for _ in range(GUESSES):
        paths[wrong] = _path(scores[..., wrong], moves, last[wrong], end[wrong])
        asked = np.where(is_last, end, np.take_along_axis(came, np.roll(paths[:, 0], -1)[None], axis=0)[0])
        wrong = np.flatnonzero(asked != end)
        if not len(wrong):
            return paths
        end = asked
    return _paths_after_all(scores, moves, last, firsts)


def _path(scores: Floats, moves: Floats, last: Ints, way: Ints) -> Ints:
    """The best path through each block that ends in a given phase, shape (rows, time)."""
    path = np.empty((len(scores), len(way)), dtype=np.int64)
    path[-1] = way
    for t in range(len(scores) - 1, 0, -1):
        way = np.where(t <= last, (scores[t - 1] + moves[:, way]).argmax(0), way)
        path[t - 1] = way
    return path.T


def _paths_after_all(scores: Floats, moves: Floats, last: Ints, firsts: Ints) -> Ints:
    """The same from block to block, where guesses of the phases in which they end do not agree."""
    k, rows = scores.shape[1:]
    ways = np.empty(scores.shape, dtype=np.int8)  # the phase at a sample, for each in which the block may end
    way: Ints = np.tile(np.arange(k)[:, None], rows)
    ways[-1] = way
    for t in range(len(scores) - 1, 0, -1):
        before: Ints = np.take_along_axis(_came(scores[t - 1], moves), way, axis=0)
        way = np.where(t <= last, before, way)
        ways[t - 1] = way
    came = _came(_ends(scores, last), moves)  # for each phase in which the next block may begin
    best = _ends(scores, last).argmax(0)
    end = best.copy()
    is_first = np.zeros(rows + 1, dtype=bool)
    is_first[[*firsts, rows]] = True
    for block in range(rows - 2, -1, -1):
        if not is_first[block + 1]:
            end[block] = came[ways[0, end[block + 1], block + 1], block]
    paths: Ints = ways[:, end, np.arange(rows)].T.astype(np.int64)
    return paths


def _came(scores: Floats, moves: Floats) -> Ints:
    """From which phase the best path to each comes, shape (k, rows); of equal ones the first."""
    came = np.zeros(scores.shape, dtype=np.int64)
    reached = scores[0] + moves[0][:, None]
    for phase in range(1, len(moves)):
        other = scores[phase] + moves[phase][:, None]
        better = other > reached
        np.copyto(reached, other, where=better)
        np.copyto(came, phase, where=better)
    return came
