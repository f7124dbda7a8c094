"""How many epochs a job needs for the same progress with other batch sizes, learning rates and layers, and where it diverges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jpo.simulate.knobs import Knobs, happens, log_uniform, residuals, uniform

if TYPE_CHECKING:
    from jpo.records import Bools, Floats

_LN2 = float(np.log(2.0))
_WORST_RATE = 4.0
"""Largest natural log of the factor for a learning rate that is off: beyond 55 times the epochs nobody waits."""


def epochs_factor(knobs: Knobs, rng: np.random.Generator, jobs: int) -> tuple[Floats, Bools]:
    """Natural log of the epochs for the same progress relative to the current row, and where training diverges; both (J, K)."""
    rate, diverges = _learning_rate(knobs, rng, jobs)
    factor = _batch_size(knobs, rng, jobs) + rate + _layers(knobs, rng, jobs)
    factor += uniform(rng, 0, 0.3, jobs) * residuals((knobs.batch, knobs.rate, knobs.layers), rng, jobs)
    return factor - factor[:, [knobs.current]], diverges


def _batch_size(knobs: Knobs, rng: np.random.Generator, jobs: int) -> Floats:
    """S(b) = (1 + 2^(b - critical)) (1 + 2^(p (small - b))): past the noise scale larger batches waste samples; with a learning
    rate that stays as it is, too small ones do not settle either.

    Source: McCandlish et al., "An Empirical Model of Large-Batch Training", 2018; Shallue et al., JMLR 2019.
    """
    low, high = knobs.batch.min(), knobs.batch.max()
    critical = uniform(rng, low - 1, high + 3, jobs)
    small = uniform(rng, low - 4, (low + high) / 2, jobs)
    power = rng.integers(1, 3, (jobs, 1))
    rate_is_tuned = bool(np.ptp(knobs.rate) > 0)  # then a small batch gets the small rate that it needs
    unsettled = happens(rng, 0.15 if rate_is_tuned else 0.55, jobs)
    wasted = np.log1p(np.exp2(knobs.batch - critical))
    return wasted + np.where(unsettled, np.log1p(np.exp2(power * (small - knobs.batch))), 0.0)


def _learning_rate(knobs: Knobs, rng: np.random.Generator, jobs: int) -> tuple[Floats, Bools]:
    """Quadratic in ln(rate / best(b)) with best(b) ~ b^p, divergence above a multiple of best(b); today's rate does not diverge.

    Source: p = 1 Goyal et al. 2017 and Smith et al., ICLR 2018 (SGD); p = 1/2 Malladi et al., NeurIPS 2022 (Adam).
    """
    if np.ptp(knobs.rate) == 0:
        return np.zeros((jobs, len(knobs.rate))), np.zeros((jobs, len(knobs.rate)), dtype=np.bool_)
    best_now = rng.normal(0.0, 1.0, (jobs, 1))  # ln of best rate / today's; assumed: people are right within a factor of e
    off = _LN2 * (knobs.rate - uniform(rng, 0, 1, jobs) * knobs.batch) - best_now
    largest = np.maximum(np.log(log_uniform(rng, 2, 30, jobs)), off[:, [knobs.current]])
    return np.minimum(log_uniform(rng, 0.05, 0.5, jobs) * off**2, _WORST_RATE), np.asarray(off > largest + 1e-9)


def _layers(knobs: Knobs, rng: np.random.Generator, jobs: int) -> Floats:
    """Quadratic in doublings around an optimum inside or just outside of the candidates: too few cannot learn, too many are slow.

    Source: the parabola around the best model size of Hoffmann et al., "Training Compute-Optimal LLMs", NeurIPS 2022.
    """
    best = uniform(rng, knobs.layers.min() - 1, knobs.layers.max() + 1, jobs)
    return log_uniform(rng, 0.02, 0.5, jobs) * (knobs.layers - best) ** 2
