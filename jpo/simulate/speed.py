"""How long one training step takes on what was allotted, and which share of it is spent computing.

The unit of time is the fixed cost of one step (launching kernels, the optimizer); `work` is the part that grows with the batch.
Energy and heterogeneous hardware are not modelled yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.simulate.knobs import Knobs, happens, log_uniform, residuals, uniform

if TYPE_CHECKING:
    from jpo.records import Bools, Floats


@dataclass(frozen=True, eq=False, slots=True)
class Speed:
    """All shape (J, K): natural logs of step time and busy share (not yet relative), and where memory does not suffice."""

    log_step: Floats
    log_busy: Floats
    out_of_memory: Bools


def step_time(knobs: Knobs, rng: np.random.Generator, jobs: int) -> Speed:
    """Step time on GPUs, or on CPUs where a row has none; layers and residuals multiply it, host memory can end it."""
    half = uniform(rng, knobs.batch.min() - 3, knobs.batch.max() + 1, jobs)
    with_gpus = knobs.gpus >= 1
    if with_gpus.all():
        step, busy, too_large = _on_gpus(knobs, half, rng, jobs)
    elif not with_gpus.any():
        step, busy = _on_cpus(knobs, half, rng, jobs)
        too_large = np.zeros(step.shape, dtype=np.bool_)
    else:
        step, busy, too_large = _on_gpus(knobs, half, rng, jobs)
        slow, slow_busy = _on_cpus(knobs, half, rng, jobs)
        step = np.where(with_gpus, step, slow * log_uniform(rng, 4, 60, jobs))  # one GPU against a few cores
        busy, too_large = np.where(with_gpus, busy, slow_busy), too_large & with_gpus
    misfit = residuals((knobs.batch, np.log2(np.maximum(knobs.gpus, 0.5)), np.log2(knobs.cpus), knobs.layers), rng, jobs)
    log_step = np.log(step * _layers(knobs, rng, jobs)) + uniform(rng, 0, 0.25, jobs) * misfit
    return Speed(log_step, np.log(np.clip(busy, 0.01, 1.0)), too_large | _host_memory_exceeded(knobs, rng, jobs))


def _on_gpus(knobs: Knobs, half: Floats, rng: np.random.Generator, jobs: int) -> tuple[Floats, Floats, Bools]:
    """Step, busy share, GPU memory exceeded.

    T_grad = 1 + 2^(local - half), T_step = (T_grad^q + T_sync^q)^(1/q) + (passes - 1) T_grad; T_sync has one slope within and one
    across nodes. The input pipeline is a floor of the step.

    Source: Qiao et al., "Pollux", OSDI 2021, section 3.2; Mohan et al., "Analyzing and Mitigating Data Stalls", VLDB 2021.
    """
    now, gpus = knobs.current, np.maximum(knobs.gpus, 1.0)
    local = knobs.batch - np.log2(gpus)
    limit = np.maximum(uniform(rng, knobs.batch.min(), knobs.batch.max() + 3, jobs), local[now])
    limit = np.where(happens(rng, 0.9 if gpus.max() == 1 else 0.2, jobs), np.inf, limit)
    accumulates = happens(rng, 0.7, jobs)  # the others run out of memory
    passes = np.where(accumulates, np.ceil(np.exp2(np.maximum(local - limit, 0.0)) - 1e-9), 1.0)
    work = np.exp2(local - half) / passes
    gradient = 1.0 + work

    sync = log_uniform(rng, 0.01, 1.5, jobs) * gradient[:, [now]]
    slope = uniform(rng, 0, 0.3, jobs)
    node = np.where(happens(rng, 0.7, jobs), 4.0, np.exp2(rng.integers(0, 5, (jobs, 1))))
    network = np.where(happens(rng, 0.3, jobs), 1.0, log_uniform(rng, 1, 12, jobs))
    across = gpus > node
    peers = np.where(across, gpus / node, gpus)
    sync = np.where(gpus > 1, sync * np.where(across, network, 1.0) * (1 + slope * np.maximum(peers - 2, 0.0)), 1e-12)
    overlap = uniform(rng, 1, 5, jobs)
    larger, smaller = np.maximum(gradient, sync), np.minimum(gradient, sync)
    both = larger * np.exp(np.log1p(np.exp(overlap * np.log(smaller / larger))) / overlap)  # (larger^q + smaller^q)^(1/q)
    step = both + (passes - 1) * gradient

    feeders = knobs.cpus / knobs.cpus[now] if knobs.has_cpus else np.ceil(gpus / node) / np.ceil(gpus[now] / node)
    # Assumed range: above .2 (noticeable) in two of five jobs; below that it matters only to those who save CPUs.
    loading = log_uniform(rng, 0.003, 3, jobs) * np.exp2(knobs.batch - half) / feeders
    step = np.maximum(step, loading)
    return step, passes * (uniform(rng, 0.2, 1, jobs) + work) / step, accumulates < (local > limit)


def _on_cpus(knobs: Knobs, half: Floats, rng: np.random.Generator, jobs: int) -> tuple[Floats, Floats]:
    """Step and busy share: the work is split over the CPUs but for a serial share; each further thread costs the same per step,
    so that small batches get slower with more threads.

    Source: Gunther, "Guerrilla Capacity Planning", 2007, chapter 4 (contention and coherency), after Amdahl, AFIPS 1967.
    """
    work = np.exp2(knobs.batch - half)
    serial, per_thread = log_uniform(rng, 0.005, 0.5, jobs), log_uniform(rng, 0.001, 0.3, jobs)
    more = np.maximum(knobs.cpus - 1, 0.0)
    step = 1.0 + work * (1 + serial * more) / knobs.cpus + per_thread * more
    return step, (1 + work) / (knobs.cpus * step)


def _layers(knobs: Knobs, rng: np.random.Generator, jobs: int) -> Floats:
    """Layers take a share of the step (the rest is embedding, head and overhead), and that share grows with their number."""
    share = uniform(rng, 0.1, 1, jobs)
    return 1 - share + share * np.exp2(knobs.layers)


def _host_memory_exceeded(knobs: Knobs, rng: np.random.Generator, jobs: int) -> Bools:
    """Need is a share of what is allotted today, in part growing with the batch; 1 % of the jobs do not fit even today."""
    share, fixed = log_uniform(rng, 0.1, 1.02, jobs), uniform(rng, 0.3, 1, jobs)
    need = share * knobs.memory[knobs.current] * (fixed + (1 - fixed) * np.exp2(knobs.batch))
    return np.asarray(need > knobs.memory) & bool(np.ptp(knobs.memory) > 0)
