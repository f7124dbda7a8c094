"""Knobs: candidates in the simulator's coordinates, and smooth random functions of them for what its formulas do not model.

The coordinates are doublings relative to the current configuration: a parameter without a column is a row of zeros.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from jpo.records import PARAMETERS, Candidates, Floats, Ints
from jpo.simulate.latents import Latents

LN2 = math.log(2)
POWER_LIMIT = "power_limit_w"
"""Not a parameter of config.ini, but one that users of the library tune, and whose physics is known."""
_SMALLEST = 1e-6
"""Replaces zero where a logarithm is taken (gpus = 0, cpus = 0)."""
_FARTHEST, _LARGEST = 60.0, 1e12
"""Limits of doublings from today, and of GPUs and CPUs: beyond them powers would not be finite."""
Picked: TypeAlias = "tuple[Sequence[int] | slice, Ints | slice]"
ALL: Picked = (slice(None), slice(None))
FEATURES = 24
"""Random cosines per residual; a smooth function of one to four knobs needs no more."""
LENGTH = 3.0
"""Length scale of the residuals in doublings of a knob."""
_REACH = 4.0
"""Range of a parameter of unknown meaning, in length scales of the residuals."""


class Requested(NamedTuple):
    """Resources that the candidates request, shape (K,) each: GPUs (0: none), CPUs, GiB of memory; ones when no column.

    `has_cpus`: whether the number of CPUs is requested (else they come with the node).
    """

    gpus: Floats
    cpus: Floats
    memory: Floats
    has_cpus: bool


@dataclass(frozen=True, eq=False, slots=True)
class Knobs:
    """Coordinates of the candidates, all shape (K,).

    batch, rate, layers, epochs: log2 relative to the current row (rate = learning rate).
    power_limit: of an accelerator, as a share of the largest among the candidates; all ones when not a column.
    others: shape (Q, K), columns of unknown meaning, each scaled to 0..1.
    words: shape (W, K), columns of words, each as the number of its word in the order in which the words first appear.
    epochs_now: today's number of epochs, None when not a column. log2_batch_now: of today's batch size, infinite likewise.
    picked: of `at`, the row that speaks for each candidate, and the candidate that each row was; all where nothing was picked.
    """

    batch: Floats
    rate: Floats
    layers: Floats
    epochs: Floats
    power_limit: Floats
    others: Floats
    words: Ints
    resources: Requested
    epochs_now: float | None
    log2_batch_now: float
    current: int
    picked: Picked = ALL

    def at(self, alike: Sequence[int]) -> "Knobs":
        """Those of one row of each number of `alike`, shape (K,), its first."""
        rows: Ints = np.unique(alike, return_index=True)[1]
        names = ("batch", "rate", "layers", "epochs", "power_limit", "others", "words")
        columns = {name: getattr(self, name)[..., rows] for name in names}
        gpus, cpus, memory, has_cpus = self.resources
        resources = Requested(gpus[rows], cpus[rows], memory[rows], has_cpus)
        return replace(self, **columns, resources=resources, current=alike[self.current], picked=(alike, rows))


def knobs_of(candidates: Candidates) -> Knobs:
    rows = len(candidates.values)
    columns = dict(zip(candidates.names, np.asarray(candidates.values, dtype=np.float64).T, strict=True))

    def doublings(name: str) -> Floats:
        log2 = np.log2(np.maximum(columns.get(name, np.ones(rows)), _SMALLEST))
        return np.asarray(np.clip(log2 - log2[candidates.current], -_FARTHEST, _FARTHEST))

    def amount(name: str, absent: float) -> Floats:
        return np.asarray(np.maximum(columns.get(name, np.full(rows, absent)), 0.0))

    watts = np.maximum(amount(POWER_LIMIT, 1.0), _SMALLEST)
    unknown = [name for name in columns if name not in (*PARAMETERS, POWER_LIMIT)]
    epochs_now = float(max(columns["epochs"][candidates.current], 1.0)) if "epochs" in columns else None
    return Knobs(
        batch=doublings("batch_size"),
        rate=doublings("learning_rate"),
        layers=doublings("num_layers"),
        epochs=doublings("epochs"),
        power_limit=watts / watts.max(),
        others=np.array([_scaled(columns[name]) for name in unknown if name not in candidates.words]).reshape(-1, rows),
        words=np.array([numbered(columns[name]) for name in unknown if name in candidates.words], np.int64).reshape(-1, rows),
        resources=Requested(
            np.minimum(np.round(amount("gpus", 0.0)), _LARGEST),
            np.clip(amount("cpus", 1.0), 0.1, _LARGEST),
            np.maximum(amount("memory_gib", 1.0), _SMALLEST),
            has_cpus="cpus" in columns,
        ),
        epochs_now=epochs_now,
        log2_batch_now=math.log2(max(columns["batch_size"][candidates.current], 1)) if "batch_size" in columns else math.inf,
        current=candidates.current,
    )


def _scaled(column: Floats) -> Floats:
    """A column scaled to 0..1, on a logarithmic scale where the values are positive and span more than a factor of ten."""
    logarithmic = column.min() > 0 and column.max() / 10 > column.min()
    values = np.log(column) if logarithmic else column / max(np.abs(column).max(), _SMALLEST)
    return np.asarray((values - values.min()) / (np.ptp(values) or 1.0))


def numbered(*columns: Floats) -> list[int]:
    """For each candidate the number of its values in some columns, from 0 in the order in which they first appear."""
    found: dict[tuple[float, ...], int] = {}
    return [found.setdefault(values, len(found)) for values in zip(*(column.tolist() for column in columns), strict=True)]


def residuals(coordinates: tuple[Floats, ...], latents: Latents, name: str, picked: Picked = ALL) -> Floats:
    """Residuals of the formulas: one smooth random function of the knobs per job, shape (J, K), of variance 1.

    Source: Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007 (an RBF Gaussian process by cosines).
    """
    points, rng = np.stack(coordinates)[:, picked[0]], latents.rng(name)  # of all candidates: BLAS rounds few in another way
    frequencies = rng.normal(0.0, 1.0 / LENGTH, (FEATURES, len(points)))
    phases = rng.uniform(0.0, 2 * np.pi, (FEATURES, 1))
    features = np.sqrt(2.0 / FEATURES) * np.cos(frequencies @ points + phases)  # (features, K)
    return np.asarray((rng.normal(size=(latents.jobs, FEATURES)) @ features)[:, picked[1]])


def unknown_effects(knobs: Knobs, latents: Latents, of: str = "") -> Floats:
    """Effects of parameters without a known meaning (momentum, dropout, ...), shape (J, K): of each alone and of all together.

    Numbers have smooth ones. Words (an optimizer, a schedule) have no order: each has one of its own, like no other's. `of`:
    what they change; other effects have other random streams.
    """
    effects = [residuals((_REACH * column,), latents, f"{of}other {i}", knobs.picked) for i, column in enumerate(knobs.others)]
    if len(knobs.others):
        effects.append(0.5 * residuals(tuple(_REACH * knobs.others), latents, f"{of}others together", knobs.picked))
    for i, column in enumerate(knobs.words):
        each = latents.rng(f"{of}words {i}").standard_normal((int(column.max()) + 1, latents.jobs)).T
        effects.append(each[:, column])
    return np.asarray(sum(effects, np.zeros((latents.jobs, len(knobs.batch)))))
