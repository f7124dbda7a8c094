"""Latents of which some have a prior of their own: weights of equal parts of 0..1, positive, of any sum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jpo.simulate.latents import Latents

RangeWeights = Mapping[str, tuple[float, ...]]
UNIFORM: RangeWeights = {}


def weighted(jobs: int, seed: int, prior: RangeWeights = UNIFORM) -> Latents:
    """The latents of so many jobs, those of a prior drawn as it says (inverse of its cumulated weights)."""
    latents = Latents(jobs, seed)
    for name, weights in prior.items():
        cumulated = np.concatenate(([0.0], np.cumsum(weights) / np.sum(weights)))
        latents.drawn[name] = np.interp(latents.rng(name).random(jobs), cumulated, np.linspace(0, 1, len(cumulated)))
    return latents
