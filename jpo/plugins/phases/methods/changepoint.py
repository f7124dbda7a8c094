"""Phases by ruptures: each execution is cut where its level changes, and segments of like levels are one phase.

Cutting looks at whole executions: it finds changes most exactly, and knows nothing while a run goes on; then the chain answers.

Source: Killick et al., "Optimal Detection of Changepoints With a Linear Computational Cost", JASA 107 (2012); the penalty is
BIC's.
"""

from collections.abc import Sequence

import numpy as np

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.extra import need
from jpo.plugins.phases.levels import FINEST
from jpo.plugins.phases.traces import Floats

SHORTEST = 2
"""Samples of a segment."""
PENALTY = 3.0
"""Of a change: so many times d log n, in variances of the noise."""
NORMAL_MAD = 0.6745
"""Median of the absolute value of a standard normal number."""


def segments(scaled: Floats, lengths: Sequence[int]) -> Ints:
    """The segment of each sample, counted through all executions, shape (samples,).

    Raises UsageError: JPO-E733, ruptures is not installed.
    """
    need("the method changepoint", "ruptures")
    from ruptures import KernelCPD  # type: ignore[import-untyped]

    noise = _noise(scaled, lengths)
    numbers, count = [], 0
    for part in np.split(scaled / noise, np.cumsum(lengths)[:-1]):
        ends = [len(part)]
        if len(part) >= 2 * SHORTEST:
            penalty = PENALTY * part.shape[1] * float(np.log(len(part)))
            ends = KernelCPD(kernel="linear", min_size=SHORTEST).fit(part).predict(pen=penalty)
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            numbers.append(np.full(end - begin, count))
            count += 1
    return np.concatenate(numbers)


def levelled(scaled: Floats, lengths: Sequence[int]) -> Floats:
    """Samples at the mean of their segment, shape (samples, d)."""
    segment = segments(scaled, lengths)
    sums = np.zeros((int(segment.max()) + 1, scaled.shape[1]))
    np.add.at(sums, segment, scaled)
    return (sums / np.bincount(segment)[:, None])[segment]


def _noise(scaled: Floats, lengths: Sequence[int]) -> Floats:
    """Standard deviation of each feature around its level, from differences of neighbours, most of which are in one segment."""
    steps = np.concatenate([np.diff(part, axis=0) for part in np.split(scaled, np.cumsum(lengths)[:-1])])
    noise: Floats = np.maximum(np.median(np.abs(steps), axis=0) / NORMAL_MAD / np.sqrt(2), FINEST)
    return noise
