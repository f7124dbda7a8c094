"""Epochs that a job needs for the same progress with other batch sizes, learning rates and layers, and where it diverges."""

import numpy as np

from jpo.records import Bools, Floats
from jpo.simulate.knobs import LN2, Knobs, residuals, unknown_effects
from jpo.simulate.latents import Latents

_WORST_RATE = 4.0
"""Largest natural log of the factor for a wrong learning rate: 55 times the epochs are as bad as more."""
_SMALLEST_CRITICAL = 5.0
"""log2 samples: batches below 32 waste few samples. McCandlish et al. measured 20 early in MNIST's training, and more later."""


def epochs_factor(knobs: Knobs, latents: Latents) -> tuple[Floats, Bools]:
    """Natural log of the epochs for the same progress relative to the current row, and where training diverges; both (J, K)."""
    rate, diverges = _learning_rate(knobs, latents)
    factor = _batch_size(knobs, latents) + rate + _layers(knobs, latents)
    discrepancy = residuals((knobs.batch, knobs.rate, knobs.layers), latents, "epochs", knobs.picked)
    factor += latents.uniform("epochs residual", 0, 0.3) * discrepancy
    factor += latents.uniform("others", 0, 0.6) * unknown_effects(knobs, latents)
    return factor - factor[:, [knobs.current]], diverges


def _batch_size(knobs: Knobs, latents: Latents) -> Floats:
    """S(b) = (1 + 2^(b - critical)) (1 + 2^(p (small - b))): past the noise scale larger batches waste samples; with a learning
    rate that stays as it is, too small ones do not settle either.

    Source: McCandlish et al., "An Empirical Model of Large-Batch Training", 2018; Shallue et al., JMLR 2019. Of fixed epochs the
    critical batch is farther away, and the best rate more nearly proportional to the batch: as LCBench's recorded losses have it.
    """
    low, high, least = knobs.batch.min(), knobs.batch.max(), _SMALLEST_CRITICAL - knobs.log2_batch_now
    to_target = latents.happens("to target", 0.5)
    spans = ((max(low - 1, least), high + 3), (max(low, least), high + 6))
    near, far = (latents.uniform("critical batch", at_least, max(at_least, most)) for at_least, most in spans)
    critical = np.where(to_target, near, far)
    small = latents.uniform("small batch", low - 4, (low + high) / 2)
    power = np.where(latents.happens("steep", 0.5), 2.0, 1.0)
    rate_is_tuned = bool(np.ptp(knobs.rate) > 0)  # then a small batch gets the small rate that it needs
    unsettled = latents.happens("unsettled", 0.15 if rate_is_tuned else 0.55)
    batch, which = np.unique(knobs.batch, return_inverse=True)  # fewer than candidates
    wasted = np.log1p(np.exp2(batch - critical))
    unsettling = np.where(unsettled, np.log1p(np.exp2(power * (small - batch))), 0.0)
    return np.asarray((wasted + unsettling)[:, which])


def _learning_rate(knobs: Knobs, latents: Latents) -> tuple[Floats, Bools]:
    """Quadratic in ln(rate / best(b)) with best(b) ~ b^p, divergence above a multiple of best(b); today's rate does not diverge.

    Source: p = 1 Goyal et al. 2017 and Smith et al., ICLR 2018 (SGD); p = 1/2 Malladi et al., NeurIPS 2022 (Adam).
    """
    if np.ptp(knobs.rate) == 0:
        flat = np.zeros((latents.jobs, len(knobs.rate)))
        return flat, flat > 0
    # ln of best rate / today's; assumed: most people are right within a factor of three
    best_now = latents.rng("best rate").normal(0.0, 1.2, (latents.jobs, 1))
    power = latents.uniform("rate power", 0, 1) + np.where(latents.happens("to target", 0.5), 0.0, 0.2)
    off = LN2 * (knobs.rate - power * knobs.batch) - best_now
    largest = np.maximum(np.log(latents.log_uniform("largest rate", 2, 30)), off[:, [knobs.current]])
    return np.minimum(latents.log_uniform("rate curvature", 0.05, 0.5) * off**2, _WORST_RATE), np.asarray(off > largest + 1e-9)


def _layers(knobs: Knobs, latents: Latents) -> Floats:
    """Quadratic in doublings around an optimum inside or just outside of the candidates: too few cannot learn, too many are slow.

    Source: the parabola around the best model size of Hoffmann et al., "Training Compute-Optimal LLMs", NeurIPS 2022.
    """
    best = latents.uniform("best layers", knobs.layers.min() - 1, knobs.layers.max() + 1)
    return latents.log_uniform("layers curvature", 0.02, 0.5) * (knobs.layers - best) ** 2
