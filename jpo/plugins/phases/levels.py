"""Levels: how many phases there are and where they lie, before anything is known of their order.

k-means finds more levels than there may be; neighbours are then merged as long as the Bayesian information criterion of hard
Gaussian clusters falls. Merging mends what k-means does wrong where one level holds most of the samples: it halves that one.

Source of the criterion: Biernacki, Celeux and Govaert, "Assessing a Mixture Model for Clustering with the Integrated Completed
Likelihood", IEEE TPAMI 22 (2000).
"""

from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.traces import Floats

FEWEST, MOST = 2, 10
"""Phases between which the criterion chooses."""
FINEST = 0.15
"""Smallest standard deviation of a phase, in scaled units: what is finer is the level of one run, no phase of its own."""
STARTS = 3
"""Of k-means, of which the best counts."""
MOST_SAMPLES = 20_000
"""Of which k-means sees at most as many, evenly taken; the rest is assigned."""


@dataclass(frozen=True, eq=False, slots=True)
class _Cluster:
    """Sufficient statistics of some samples: their number, sum and sum of squares."""

    n: float
    total: Floats
    squares: Floats

    def with_(self, other: "_Cluster") -> "_Cluster":
        return _Cluster(self.n + other.n, self.total + other.total, self.squares + other.squares)

    def cost(self, samples: int) -> float:
        """Minus the log likelihood of its samples and of their being here, of `samples` in all."""
        variance = np.maximum(self.squares / self.n - (self.total / self.n) ** 2, 0)
        floored = np.maximum(variance, FINEST**2)
        density = (np.log(2 * np.pi * floored) + variance / floored).sum() / 2
        return float(self.n * (density - np.log(self.n / samples)))


def find_levels(scaled: Floats, n_phases: int | None, seed: int) -> Ints:
    """Labels of the samples, shape (samples,): 0 .. k-1 in the order of their first sample.

    `n_phases`: how many levels; None: as the criterion has it, FEWEST to MOST.
    """
    labels = _many_levels(scaled, MOST if n_phases is None else max(MOST, n_phases), seed)
    clusters = {
        label: _Cluster(float((labels == label).sum()), scaled[labels == label].sum(0), (scaled[labels == label] ** 2).sum(0))
        for label in np.flatnonzero(np.bincount(labels)).tolist()
    }
    best, least = labels, np.inf
    while True:
        k, (samples, d) = len(clusters), scaled.shape
        cost = sum(cluster.cost(samples) for cluster in clusters.values())
        criterion = 2 * cost + (k - 1 + 2 * k * d) * float(np.log(samples))
        if criterion < least or len(clusters) == n_phases:
            best, least = labels, criterion
        if len(clusters) <= (n_phases or FEWEST):
            return _in_order(best)
        kept, gone = _cheapest_merger(clusters, len(scaled))
        clusters[kept] = clusters[kept].with_(clusters.pop(gone))
        labels = np.where(labels == gone, kept, labels)


def _many_levels(scaled: Floats, k: int, seed: int) -> Ints:
    """k-means with as many clusters as there may be, fewer where the samples do not differ more."""
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]

    few = scaled[:: -(-len(scaled) // MOST_SAMPLES)]
    k = min(k, len(np.unique(np.round(few, 9), axis=0)))
    found = KMeans(k, n_init=STARTS, random_state=seed).fit(few)
    labels: Ints = found.predict(scaled).astype(np.int64)
    return labels


def _cheapest_merger(clusters: dict[int, _Cluster], samples: int) -> tuple[int, int]:
    pairs = ((one, other) for one in clusters for other in clusters if one < other)

    def rise(pair: tuple[int, int]) -> float:
        one, other = clusters[pair[0]], clusters[pair[1]]
        return one.with_(other).cost(samples) - one.cost(samples) - other.cost(samples)

    return min(pairs, key=rise)


def _in_order(labels: Ints) -> Ints:
    """The same with phases counted as they first appear."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)
