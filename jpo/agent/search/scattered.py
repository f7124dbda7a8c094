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
    yield {**bases[0], **{name: ladder[len(ladder) // 2] for name, ladder in ladders.items() if name not in worded}}
    while True:
        for base in bases:
            moved = rng.random(len(names)) < rng.uniform(1 / len(names), 1)
            moved[rng.integers(len(names))] = True
            width = CLOSEST * (FARTHEST / CLOSEST) ** rng.random()
            near = {
                name: _moved(ladders[name], base[name], width, rng, worded=name in worded)
                for name, move in zip(names, moved, strict=True)
                if move
            }
            yield {**base, **near}
            yield {**base, **{name: ladder[rng.integers(len(ladder))] for name, ladder in ladders.items()}}


def _moved(ladder: tuple[float, ...], value: float, width: float, rng: np.random.Generator, *, worded: bool) -> float:
    """Another rung than the value's; of words any."""
    at = int(np.abs(np.array(ladder) - value).argmin())
    steps = 0 if worded else round(width * (len(ladder) - 1) * rng.standard_normal())
    to = int(rng.integers(len(ladder))) if worded else at + (steps or int(rng.choice((-1, 1))))
    return ladder[min(max(to, 0), len(ladder) - 1)]
