"""Speed of a training job: the time of one step on its resources, and the share of it that is spent computing.

The unit of time is the fixed cost of one step (launching kernels, the optimizer); `work` is the part that grows with the batch.
Heterogeneous hardware is not modelled.
"""

from dataclasses import dataclass

import numpy as np

from jpo.records import Bools, Floats
from jpo.simulate.knobs import Knobs, residuals
from jpo.simulate.latents import Latents


@dataclass(frozen=True, eq=False, slots=True)
class Speed:
    """Speed of jobs; arrays are (J, K).

    Attributes:
        log_step, log_busy: natural logs of step time and busy share, not yet relative to today.
        out_of_memory: where the memory of a GPU is exceeded.
        loader_share: shape (J,), share of today's step during which CPUs load data; NaN where they compute.
    """

    log_step: Floats
    log_busy: Floats
    out_of_memory: Bools
    loader_share: Floats


def step_time(knobs: Knobs, latents: Latents) -> Speed:
    """Step time on GPUs, or on CPUs where a row has none; layers and residuals multiply it."""
    half = latents.uniform("half saturation", knobs.batch.min() - 3, knobs.batch.max() + 1)
    with_gpus = knobs.resources.gpus >= 1
    step, busy, too_large, loading = _on_gpus(knobs, half, latents)
    if not with_gpus.all():
        slow, slow_busy = _on_cpus(knobs, half, latents)
        times = latents.log_uniform("gpu speed", 4, 60) if with_gpus.any() else np.ones(1)  # of one GPU against a few cores
        step, busy = np.where(with_gpus, step, slow * times), np.where(with_gpus, busy, slow_busy)
        too_large, loading = too_large & with_gpus, np.where(with_gpus, loading, np.nan)
    coordinates = (knobs.batch, np.log2(np.maximum(knobs.resources.gpus, 0.5)), np.log2(knobs.resources.cpus), knobs.layers)
    discrepancy = residuals(coordinates, latents, "step", knobs.picked)
    log_step = np.log(step * _layers(knobs, latents)) + latents.uniform("step residual", 0, 0.25) * discrepancy
    return Speed(log_step, np.log(np.clip(busy, 0.01, 1.0)), too_large, loading[:, knobs.current])


def _on_gpus(knobs: Knobs, half: Floats, latents: Latents) -> tuple[Floats, Floats, Bools, Floats]:
    """Step, busy share, GPU memory exceeded, share of the step during which data are loaded.

    T_grad = 1 + 2^(local - half), T_step = (T_grad^q + T_sync^q)^(1/q) + (passes - 1) T_grad; T_sync has one slope within and one
    across nodes. The input pipeline is a floor of the step.

    Source: Qiao et al., "Pollux", OSDI 2021, section 3.2; Mohan et al., "Analyzing and Mitigating Data Stalls", VLDB 2021.
    """
    now, gpus = knobs.current, np.maximum(knobs.resources.gpus, 1.0)
    local = knobs.batch - np.log2(gpus)
    limit = np.maximum(latents.uniform("memory limit", knobs.batch.min(), knobs.batch.max() + 3), local[now])
    limit = np.where(latents.happens("memory suffices", 0.9 if gpus.max() == 1 else 0.2), np.inf, limit)
    accumulates = latents.happens("accumulates", 0.7)  # the others run out of memory
    passes = np.ceil(np.exp2(np.maximum(local - np.where(accumulates, limit, np.inf), 0.0)) - 1e-9)
    work = np.exp2(local - half) / passes
    gradient = 1.0 + work

    sync = latents.log_uniform("synchronisation", 0.01, 1.5) * gradient[:, [now]]
    slope = latents.uniform("synchronisation slope", 0, 0.3)
    node = np.where(latents.happens("usual node", 0.7), 4.0, np.exp2(np.floor(latents.uniform("gpus per node", 0, 5))))
    network = np.where(latents.happens("fast network", 0.3), 1.0, latents.log_uniform("network", 1, 12))
    across = gpus > node
    peers = np.where(across, gpus / node, gpus)
    costs = sync * np.where(across, network, 1.0) * (1 + slope * np.maximum(peers - 2, 0.0))
    sync = np.where(gpus > 1, costs, 1e-12)
    step = _overlapping(gradient, sync, latents.uniform("overlap", 1, 5)) + (passes - 1) * gradient

    nodes = np.ceil(gpus / node)  # (J, K)
    feeders = knobs.resources.cpus / knobs.resources.cpus[now] if knobs.resources.has_cpus else nodes / nodes[:, [now]]
    # Assumed range: above .2 (noticeable) in two of five jobs; below that it matters only to those who save CPUs.
    loading = latents.log_uniform("loading", 0.003, 3) * np.exp2(knobs.batch - half) / feeders
    np.maximum(step, loading, out=step)
    busy = passes * (latents.uniform("busy overhead", 0.2, 1) + work) / step
    return step, busy, accumulates < (local > limit), loading / step


def _overlapping(first: Floats, second: Floats, power: Floats) -> Floats:
    """(first^power + second^power)^(1/power), without overflow."""
    larger = np.maximum(first, second)
    share = np.log1p(np.exp(power * np.log(np.minimum(first, second) / larger)))
    return np.asarray(np.exp(1 / power * share) * larger)


def _on_cpus(knobs: Knobs, half: Floats, latents: Latents) -> tuple[Floats, Floats]:
    """Step and busy share: the work is split over the CPUs but for a serial share; each further thread costs the same per step,
    so that small batches get slower with more threads.

    Source: Gunther, "Guerrilla Capacity Planning", 2007, chapter 4 (contention and coherency), after Amdahl, AFIPS 1967.
    """
    work = np.exp2(knobs.batch - half)
    serial, per_thread = latents.log_uniform("serial share", 0.005, 0.5), latents.log_uniform("thread cost", 0.001, 0.3)
    more = np.maximum(knobs.resources.cpus - 1, 0.0)
    step = 1.0 + work * (1 + serial * more) / knobs.resources.cpus + per_thread * more
    return step, (1 + work) / (knobs.resources.cpus * step)


def _layers(knobs: Knobs, latents: Latents) -> Floats:
    """Factor of the layers: a share of the step (the rest is embedding, head and overhead) that grows with their number."""
    share = latents.uniform("layers share", 0.1, 1)
    return 1 - share + share * np.exp2(knobs.layers)


def host_memory_exceeded(knobs: Knobs, latents: Latents) -> Bools:
    """Rows whose host memory is exceeded: the need is a share of today's, partly growing with the batch; 1% exceed it today."""
    if np.ptp(knobs.resources.memory) == 0:
        return np.zeros((latents.jobs, 1), dtype=np.bool_)
    share, fixed = latents.log_uniform("host memory", 0.1, 1.02), latents.uniform("host memory fixed", 0.3, 1)
    need = share * knobs.resources.memory[knobs.current] * (fixed + (1 - fixed) * np.exp2(knobs.batch))
    return np.asarray(need > knobs.resources.memory)
