"""Empirical Bayes: a prior over the simulator's latents, learnt from finished jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jpo.records import Floats

PARTS = 6
"""Number of equal parts into which the range of a latent is divided."""
PSEUDO_JOBS = 10.0
"""The uniform prior counts as this many finished jobs, so that a handful hardly changes it. (Six recorded jobs, each predicted
from the other five: with 3 the first five runs of one became 25% more expensive than without, with 10 they were 2% more expensive
on average.)"""

Evidence = tuple[Mapping[str, "Floats"], "Floats"]
"""Of one finished job: the position in 0..1 of each particle by latent, and the weights of the particles, all shape (J,)."""


def reweighted(jobs: Sequence[Evidence]) -> dict[str, tuple[float, ...]]:
    """Weights of the parts of each latent's range, from the posteriors of finished jobs; {} without any.

    Source: one step of expectation maximisation for a histogram prior, Laird, "Nonparametric Maximum Likelihood Estimation of a
    Mixing Distribution", JASA 1978; with Dirichlet pseudo counts.
    """
    seen: dict[str, list[Floats]] = {}
    edges = np.linspace(0.0, 1.0, PARTS + 1)[1:-1]
    for drawn, weights in jobs:
        for name, place in drawn.items():  # np.histogram says the same and takes four times as long, 40 times a job
            there = np.asarray(np.bincount(np.searchsorted(edges, place, "right"), weights, PARTS), dtype=np.float64)
            seen.setdefault(name, []).append(there)
    return {name: tuple(map(float, np.sum(parts, axis=0) + PSEUDO_JOBS / PARTS)) for name, parts in seen.items()}
