"""Prototypes: executions that go through the same phases in like shares of their time, each kind with the one in its middle.

Two executions are as far apart as the phases that they are in at the same share of their time differ, so that a long one and
a short one of the same job are alike. Clusters are joined by mean distance as long as they are nearer than APART.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.chain import Ints, entries

POINTS = 50
"""Shares of an execution's time at which phases are compared."""
SLACK = 3
"""Points by which a phase may come earlier or later and still be the same path."""
APART = 0.3
"""Share of the points at which two clusters differ on average, from which they are prototypes of their own."""


@dataclass(frozen=True, slots=True)
class Prototype:
    """A kind of execution.

    Attributes:
        members: positions of its executions, ascending.
        medoid: the member that is nearest to all others.
        phases: that one's phases, without repetitions.
    """

    members: tuple[int, ...]
    medoid: int
    phases: tuple[int, ...]


def prototypes(paths: Sequence[Ints]) -> tuple[Prototype, ...]:
    """The kinds among executions, given by the phases of each, the largest first."""
    away = np.array([[distance(one, other) for other in paths] for one in paths])
    clusters = [[at] for at in range(len(paths))]
    while len(clusters) > 1:
        apart, first, second = min(
            (float(away[np.ix_(one, other)].mean()), i, j)
            for i, one in enumerate(clusters)
            for j, other in enumerate(clusters)
            if i < j
        )
        if apart >= APART:
            break
        clusters[first] = sorted(clusters[first] + clusters.pop(second))
    found = []
    for members in clusters:
        medoid = members[int(away[np.ix_(members, members)].sum(1).argmin())]
        found.append(Prototype(tuple(members), medoid, tuple(paths[medoid][entries(paths[medoid])].tolist())))
    return tuple(sorted(found, key=lambda prototype: (-len(prototype.members), prototype.members)))


def distance(one: Ints, other: Ints) -> float:
    """Share of the time at which two paths are in phases that the other is not in, then or a little before or after."""
    a, b = (path[np.linspace(0, len(path) - 1, POINTS).round().astype(np.int64)] for path in (one, other))
    return (_unmatched(a, b) + _unmatched(b, a)) / 2


def nearest_prototype(path: Ints, known: Sequence[Prototype], paths: Sequence[Ints]) -> int:
    """The prototype whose medoid, of the paths in which it was found, is nearest to that of an execution."""
    return int(np.argmin([distance(path, paths[prototype.medoid]) for prototype in known]))


def _unmatched(a: Ints, b: Ints) -> float:
    """Share of the points of `a` whose phase `b` is not in within SLACK points."""
    around = np.stack([b[np.clip(np.arange(POINTS) + shift, 0, POINTS - 1)] for shift in range(-SLACK, SLACK + 1)])
    return float((around != a).all(0).mean())
