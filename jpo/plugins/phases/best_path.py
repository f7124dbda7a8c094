"""The most probable path of phases through executions: by hmmlearn's compiled loop where it is installed, else in numpy.

A fitted model needs no package of fits, so the way in numpy stays. Both have the same path where one is best; of paths that are
equally good each has one.

Source: Rabiner, "A Tutorial on Hidden Markov Models", Proc. IEEE 77 (1989), section III.B.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from jpo.plugins.phases.chain import Chain, Ints, alike, padded, stacked
from jpo.plugins.phases.traces import Floats, in_parts

COMPILED = ("0.3.3",)
"""Versions of hmmlearn whose compiled function is known to have this form. Its public way to it, `decode`, imports scikit-learn
and scipy: a second, for predictions of a few milliseconds."""
SHORT = 20
"""Samples of an execution, in the mean, below which a call for each takes longer than numpy with all side by side."""
IMPOSSIBLE = 1e-300
"""Added to probabilities of which the logarithm is taken."""


def viterbi(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> Ints:
    """The most probable path of phases of each execution, shape (samples,)."""
    compiled = _compiled()
    if compiled is None or len(log_emissions) < SHORT * len(lengths):
        return in_numpy(chain, log_emissions, lengths)
    start, transitions = chain.start + IMPOSSIBLE, chain.transitions + IMPOSSIBLE
    return np.concatenate([compiled(start, transitions, part)[1] for part in in_parts(log_emissions, lengths)])


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


def in_numpy(chain: Chain, log_emissions: Floats, lengths: Sequence[int]) -> Ints:
    """The same in numpy, executions of like length side by side."""
    path = np.empty(len(log_emissions), dtype=np.int64)
    for rows, some in alike(lengths):
        path[rows] = _in_numpy(chain, log_emissions[rows], some)
    return path


def _in_numpy(chain: Chain, log_emissions: Floats, lengths: Ints) -> Ints:
    batch, ends = padded(log_emissions, lengths), lengths - 1  # (executions, longest, k)
    moves, each = np.log(chain.transitions + IMPOSSIBLE), np.arange(len(lengths))
    best = np.log(chain.start + IMPOSSIBLE) + batch[:, 0]
    came = np.zeros(batch.shape, dtype=np.int8)  # from which phase the best path to each comes
    for t in range(1, batch.shape[1]):
        ways = best[:, :, None] + moves  # (executions, from, to)
        came[:, t] = ways.argmax(1)
        best = np.where((t <= ends)[:, None], ways.max(1) + batch[:, t], best)
    paths = np.empty(batch.shape[:2], dtype=np.int64)
    paths[:, -1] = best.argmax(1)
    for t in range(batch.shape[1] - 1, 0, -1):
        paths[:, t - 1] = np.where(t <= ends, came[each, t, paths[:, t]], paths[:, t])
    return stacked(paths, lengths)
