"""Candidates in the simulator's coordinates, and what its formulas do not know: smooth random functions of them.

The simulator thinks in doublings relative to the current configuration, so that a parameter which is not a column (it stays as
it is) is a row of zeros and no formula has to ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.records import PARAMETERS

if TYPE_CHECKING:
    from jpo.records import Candidates, Floats
    from jpo.simulate.latents import Latents

POWER_LIMIT = "power_limit_w"
"""No parameter of config.ini, but one that users of the library tune, and whose physics is known."""
_SMALLEST = 1e-6
"""Stands for zero where a logarithm is taken (gpus = 0, cpus = 0)."""
_FARTHEST, _LARGEST = 60.0, 1e12
"""Doublings from today, GPUs and CPUs: beyond is as absurd, and powers of it would not be finite."""
_FEATURES = 24
"""Random cosines per residual; a smooth function of one to four knobs needs no more."""
_LENGTH = 3.0
"""Doublings of a knob over which residuals stay alike."""


@dataclass(frozen=True, eq=False, slots=True)
class Knobs:
    """All shape (K,).

    batch, rate, layers, epochs: log2 relative to the current row (rate = learning rate).
    power_limit: of an accelerator, as a share of the largest among the candidates; all ones when not a column.
    others: shape (Q, K), the columns of which the simulator knows no meaning, each scaled to 0..1.
    gpus: number, 0 without GPUs. cpus, memory: number and GiB; all ones when not a column.
    epochs_now: today's number of epochs, None when not a column.
    has_cpus: whether the CPUs are asked for (else they come with the node).
    """

    batch: Floats
    rate: Floats
    layers: Floats
    epochs: Floats
    power_limit: Floats
    others: Floats
    gpus: Floats
    cpus: Floats
    memory: Floats
    epochs_now: float | None
    has_cpus: bool
    current: int


def knobs_of(candidates: Candidates) -> Knobs:
    rows = len(candidates.values)
    columns = dict(zip(candidates.names, np.asarray(candidates.values, dtype=np.float64).T, strict=True))

    def doublings(name: str) -> Floats:
        log2 = np.log2(np.maximum(columns.get(name, np.ones(rows)), _SMALLEST))
        return np.asarray(np.clip(log2 - log2[candidates.current], -_FARTHEST, _FARTHEST))

    def amount(name: str, absent: float) -> Floats:
        return np.asarray(np.maximum(columns.get(name, np.full(rows, absent)), 0.0))

    watts = np.maximum(amount(POWER_LIMIT, 1.0), _SMALLEST)
    known = (*PARAMETERS, POWER_LIMIT)
    epochs_now = float(max(columns["epochs"][candidates.current], 1.0)) if "epochs" in columns else None
    return Knobs(
        batch=doublings("batch_size"),
        rate=doublings("learning_rate"),
        layers=doublings("num_layers"),
        epochs=doublings("epochs"),
        power_limit=watts / watts.max(),
        others=np.array([_scaled(column) for name, column in columns.items() if name not in known]).reshape(-1, rows),
        gpus=np.minimum(np.round(amount("gpus", 0.0)), _LARGEST),
        cpus=np.clip(amount("cpus", 1.0), 0.1, _LARGEST),
        memory=np.maximum(amount("memory_gib", 1.0), _SMALLEST),
        epochs_now=epochs_now,
        has_cpus="cpus" in columns,
        current=candidates.current,
    )


def _scaled(column: Floats) -> Floats:
    """0..1 over the candidates, on a logarithmic scale where the values are positive and span more than a factor of ten."""
    logarithmic = column.min() > 0 and column.max() / 10 > column.min()
    values = np.log(column) if logarithmic else column / max(np.abs(column).max(), _SMALLEST)
    return np.asarray((values - values.min()) / (np.ptp(values) or 1.0))


def residuals(coordinates: tuple[Floats, ...], latents: Latents, name: str) -> Floats:
    """What the formulas do not know: one smooth random function of the knobs per job, shape (J, K), of variance 1.

    Source: Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007 (an RBF Gaussian process by cosines).
    """
    points, rng = np.stack(coordinates), latents.rng(name)  # (knobs, K)
    frequencies = rng.normal(0.0, 1.0 / _LENGTH, (_FEATURES, len(points)))
    phases = rng.uniform(0.0, 2 * np.pi, (_FEATURES, 1))
    features = np.sqrt(2.0 / _FEATURES) * np.cos(frequencies @ points + phases)  # (features, K)
    return np.asarray(rng.normal(size=(latents.jobs, _FEATURES)) @ features)
