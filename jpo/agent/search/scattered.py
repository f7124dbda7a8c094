"""Candidates of a search in a large space: half of them near the best that ran, half anywhere. Deterministic."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from jpo.records import Parameters

CLOSEST, FARTHEST = 0.02, 0.25
"""sd of a move, in ladders: drawn between these, evenly in logs, so that ever closer ones are there when they are needed."""


def scattered(
    bases: Sequence[Parameters], ladders: Mapping[str, tuple[float, ...]], worded: Collection[str], seed: int
) -> Iterator[Parameters]:
    """Configurations without end, some of them twice: the middle, then in turn near each base, and anywhere."""
    rng, names = np.random.default_rng(seed), list(ladders)
    at = [{name: int(np.abs(np.array(rungs) - base[name]).argmin()) for name, rungs in ladders.items()} for base in bases]
    yield {**bases[0], **{name: ladder[len(ladder) // 2] for name, ladder in ladders.items() if name not in worded}}
    while True:
        for base, here in zip(bases, at, strict=True):
            moved = rng.random(len(names)) < rng.uniform(1 / len(names), 1)
            moved[rng.integers(len(names))] = True
            width = CLOSEST * (FARTHEST / CLOSEST) ** rng.random()
            near = {
                name: ladders[name][_moved(len(ladders[name]), here[name], width, rng, worded=name in worded)]
                for name, move in zip(names, moved, strict=True)
                if move
            }
            yield {**base, **near}
            yield {**base, **{name: ladder[rng.integers(len(ladder))] for name, ladder in ladders.items()}}


def _moved(rungs: int, at: int, width: float, rng: np.random.Generator, *, worded: bool) -> int:
    """Another rung than this one; of words any."""
    steps = 0 if worded else round(width * (rungs - 1) * rng.standard_normal())
    to = int(rng.integers(rungs)) if worded else at + (steps or int(rng.choice((-1, 1))))
    return min(max(to, 0), rungs - 1)
