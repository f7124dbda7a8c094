"""Candidates in the simulator's coordinates, and the random numbers that all of its formulas use.

The simulator thinks in doublings relative to the current configuration, so that a parameter which is not a column (it stays as
it is) is a row of zeros and no formula has to ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jpo.records import Bools, Candidates, Floats

_SMALLEST = 1e-6
"""Stands for zero where a logarithm is taken (gpus = 0, cpus = 0)."""
_FEATURES = 24
"""Random cosines per residual; a smooth function of one to four knobs needs no more."""
_LENGTH = 3.0
"""Doublings of a knob over which residuals stay alike."""


@dataclass(frozen=True, eq=False, slots=True)
class Knobs:
    """All shape (K,).

    batch, rate, layers, epochs: log2 relative to the current row (rate = learning rate).
    gpus: number, 0 without GPUs. cpus, memory: number and GiB; all ones when not a column.
    epochs_now: today's number of epochs, None when not a column.
    has_cpus: whether the CPUs are asked for (else they come with the node).
    """

    batch: Floats
    rate: Floats
    layers: Floats
    epochs: Floats
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
        return np.asarray(log2 - log2[candidates.current])

    def amount(name: str, absent: float) -> Floats:
        return np.asarray(np.maximum(columns.get(name, np.full(rows, absent)), 0.0))

    epochs_now = float(max(columns["epochs"][candidates.current], 1.0)) if "epochs" in columns else None
    return Knobs(
        batch=doublings("batch_size"),
        rate=doublings("learning_rate"),
        layers=doublings("num_layers"),
        epochs=doublings("epochs"),
        gpus=np.round(amount("gpus", 0.0)),
        cpus=np.maximum(amount("cpus", 1.0), 0.1),
        memory=np.maximum(amount("memory_gib", 1.0), _SMALLEST),
        epochs_now=epochs_now,
        has_cpus="cpus" in columns,
        current=candidates.current,
    )


def uniform(rng: np.random.Generator, low: float, high: float, jobs: int) -> Floats:
    """One number per job, shape (J, 1)."""
    return rng.uniform(low, high, (jobs, 1))


def log_uniform(rng: np.random.Generator, low: float, high: float, jobs: int) -> Floats:
    """One number per job, shape (J, 1), its logarithm uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), (jobs, 1)))


def happens(rng: np.random.Generator, probability: float, jobs: int) -> Bools:
    """One yes or no per job, shape (J, 1)."""
    return rng.random((jobs, 1)) < probability


def residuals(coordinates: tuple[Floats, ...], rng: np.random.Generator, jobs: int) -> Floats:
    """What the formulas do not know: one smooth random function of the knobs per job, shape (J, K), of variance 1.

    Source: Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007 (an RBF Gaussian process by cosines).
    """
    points = np.stack(coordinates)  # (knobs, K)
    frequencies = rng.normal(0.0, 1.0 / _LENGTH, (_FEATURES, len(points)))
    phases = rng.uniform(0.0, 2 * np.pi, (_FEATURES, 1))
    features = np.sqrt(2.0 / _FEATURES) * np.cos(frequencies @ points + phases)  # (features, K)
    return np.asarray(rng.normal(size=(jobs, _FEATURES)) @ features)
