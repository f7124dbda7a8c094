"""The most probable path of phases through executions: by hmmlearn's compiled loop where it is installed, else in numpy.

A fitted model needs no package of fits, so the way in numpy stays: executions are cut into blocks that are solved side by side.
Both have the same path where one is best; of paths that are equally good each has one.

Source: Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE 77 (1989), section III.B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from jpo.plugins.phases.chain import Chain, Ints, padded, stacked
from jpo.plugins.phases.traces import Floats

COMPILED = ("0.3.3",)
"""Versions of hmmlearn whose compiled function is known to have this form. Its public way to it, `decode`, imports scikit-learn
and scipy: a second, for predictions of a few milliseconds."""
IMPOSSIBLE = 1e-300
"""Added to probabilities of which the logarithm is taken."""
BLOCK = 128
"""Samples of an execution that are solved in one go; longer ones in blocks."""
GUESSES = 3
"""How often the ends of all blocks are looked at before each phase in which a block may begin is."""
ALIKE = 1e-7
"""Difference of log densities that is rounding."""


def viterbi(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> Ints:
    """The most probable path of phases of each execution, shape (samples,)."""
    compiled = _compiled()
    if compiled is None:
        return in_blocks(chain, log_emissions, lengths)
    start, transitions = chain.start + IMPOSSIBLE, chain.transitions + IMPOSSIBLE
    parts = np.split(log_emissions, np.cumsum(lengths)[:-1])
    return np.concatenate([compiled(start, transitions, part)[1] for part in parts])


@cache
def _compiled() -> Callable[[Floats, Floats, Floats], tuple[float, Ints]] | None:
    """hmmlearn's function of start, transitions and log emissions, which says the path behind its log density; None: not here."""
    try:
        if version("hmmlearn") not in COMPILED:
            return None
        from hmmlearn import _hmmc  # type: ignore[import-untyped]
    except ImportError:
        return None
    known: Any = _hmmc.viterbi
    return known  # type: ignore[no-any-return]


def in_blocks(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> Ints:
    """The same in numpy.

    Executions are cut into blocks that are solved side by side. How good it is to enter a block in each phase depends on those
    before; mostly the last samples say it already. So all blocks are entered as if nothing came before, and again with what that
    says at their ends. Where the ends stay they are right, from the first block on; else each phase in which a block may begin
    is looked at. The same holds for the way back. The path is exactly that of one pass.
    """
    blocks = [min(BLOCK, length - begin) for length in lengths for begin in range(0, length, BLOCK)]
    firsts = np.cumsum([0, *(-(-length // BLOCK) for length in lengths[:-1])])
    moves, last = np.log(chain.transitions + IMPOSSIBLE), np.asarray(blocks) - 1
    batch = np.ascontiguousarray(padded(log_emissions, blocks).transpose(1, 2, 0))  # (time, k, blocks)
    start = np.log(chain.start + IMPOSSIBLE)
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
    """Log densities of the best paths to each phase at each sample, shape (time, k, rows), as `batch`, the log emissions, has.

    `entered`: shape (k, rows), of the best paths that enter each phase at the first sample; `moves`: log probabilities, (k, k).
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
