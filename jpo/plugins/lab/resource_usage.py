"""Demand of a run for CPUs and host memory over time: it loads, then per epoch trains, validates and writes a checkpoint.

Drawn independently of speed and loss. A run whose memory peak is above its request is killed, as by a limit of Kubernetes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jpo.records import Floats, Ints

LOAD, TRAIN, VALIDATE, CHECKPOINT = range(4)
PHASES = ("load", "train", "validate", "checkpoint")
POINTS = 240
"""Points of the time grid: a phase of half a percent of the run still gets one."""
_JITTER = 0.08
"""Standard deviation of the natural log of the busy CPUs from point to point (assumed)."""


@dataclass(frozen=True, eq=False, slots=True)
class Demand:
    """The demand of J jobs, all shape (J,). Shares are of the run's time; cores and GiB at today's configuration.

    Attributes:
        load: share of the run before the first epoch.
        validate, checkpoint: shares of each epoch.
        epochs: number of epochs with phases of their own.
        cores: shape (J, 4), CPUs kept busy in each of PHASES.
        base_gib: framework and model. data_gib: filled by loading. batch_gib: batches in flight, grows with the batch size.
        copy_gib: the copy of the weights while a checkpoint is written.
    """

    load: Floats
    validate: Floats
    checkpoint: Floats
    epochs: Ints
    cores: Floats
    base_gib: Floats
    data_gib: Floats
    batch_gib: Floats
    copy_gib: Floats


@dataclass(frozen=True, eq=False, slots=True)
class ResourceTrace:
    """Traces of n runs on one time grid of T points from start to end: phase (index of PHASES), busy CPUs, memory, all (n, T)."""

    phase: Ints
    cores: Floats
    memory_gib: Floats


@dataclass(frozen=True, eq=False, slots=True)
class ResourceUsage:
    """Summary of n traces, all shape (n,): CPU use relative to the request in 0..1, memory in GiB."""

    cpu_mean: Floats
    cpu_p95: Floats
    memory_mean_gib: Floats
    memory_p95_gib: Floats
    memory_peak_gib: Floats


WAITS_FOR_STORAGE = 0.15
"""Share of jobs whose loaders wait for storage while their CPUs idle. Assumed."""


def draw_demand(cpus: Floats, memory_gib: Floats, rng: np.random.Generator, loader_share: Floats | None = None) -> Demand:
    """Random demands of jobs, given what they request today; today's peak fits in 99 of 100 jobs.

    Assumed ranges: loading U(.01, .12) of the run, validation U(.04, .2) and checkpoint U(.005, .04) of an epoch; training keeps
    LU(.05, 1.2) of the requested CPUs busy (above 1: they are the bottleneck), and at least its loaders', which wait for storage
    in 15% of jobs; loading 1 to 2 times and validation half as many; a checkpoint one.
    Memory peak LU(.08, 1.01) of the request: people ask for far more than they use.

    Args:
        cpus, memory_gib: shape (J,), today's requests.
        loader_share: shape (J,), share of a step during which the CPUs load data, NaN where they compute; None: unknown.

    Source: phases of a training run: Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021 (loading),
    and "CheckFreq", FAST 2021 (checkpoints); requests against use: Rzadca et al., "Autopilot", EuroSys 2020.
    """
    jobs = len(cpus)
    train = cpus * np.exp(rng.uniform(np.log(0.05), np.log(1.2), jobs))
    if loader_share is not None:
        computing = rng.random(jobs) >= WAITS_FOR_STORAGE
        train = np.maximum(train, np.where(computing, np.nan_to_num(loader_share), 0.0) * cpus)
    loads = train * rng.uniform(1.0, 2.0, jobs)
    parts = rng.dirichlet((3.0, 4.0, 2.0, 1.0), jobs)  # (J, 4): base, data, batches, copy
    peak = memory_gib * np.exp(rng.uniform(np.log(0.08), np.log(1.01), jobs))
    base, data, batch, copy = (parts * peak[:, None]).T
    return Demand(
        load=rng.uniform(0.01, 0.12, jobs),
        validate=rng.uniform(0.04, 0.2, jobs),
        checkpoint=rng.uniform(0.005, 0.04, jobs),
        epochs=rng.integers(2, 11, jobs),
        cores=np.stack((loads, train, train * 0.5, np.ones(jobs)), axis=1),
        base_gib=base,
        data_gib=data,
        batch_gib=batch,
        copy_gib=copy,
    )


def trace(
    demand: Demand, jobs: Ints, cpus: Floats, log_pace: Floats, batch: Floats, rng: np.random.Generator, *, points: int = POINTS
) -> ResourceTrace:
    """Traces of CPUs and memory over n runs.

    While it trains or validates, a job needs CPUs in proportion to its pace (samples per second), and never has more than were
    requested. Loading takes what is free. Memory: base, data that fill up while loading, batches, a copy at each checkpoint.

    Args:
        jobs: shape (n,), rows of `demand`.
        cpus, log_pace, batch: shape (n,), CPUs that each run requests; relative to today ln of its pace, doublings of its batch.
    """
    time = (np.arange(points) + 0.5) / points
    load = demand.load[jobs, None]
    within = np.clip((time - load) / (1 - load), 0.0, None) * demand.epochs[jobs, None] % 1.0  # position in the epoch, (n, T)
    writes, checks = (share[jobs, None] for share in (demand.checkpoint, demand.validate))
    phase = np.select([time < load, within >= 1 - writes, within >= 1 - writes - checks], [LOAD, CHECKPOINT, VALIDATE], TRAIN)
    phase[:, -1] = CHECKPOINT  # every run ends with one, on any grid

    pace = np.where((phase == TRAIN) | (phase == VALIDATE), np.exp(log_pace)[:, None], 1.0)
    wanted = demand.cores[jobs[:, None], phase] * pace * np.exp(_JITTER * rng.standard_normal(phase.shape))
    filled = np.minimum(time / load, 1.0) * demand.data_gib[jobs, None]
    batches = demand.batch_gib[jobs, None] * np.exp2(batch)[:, None] * (phase != LOAD)
    memory = demand.base_gib[jobs, None] + filled + batches + demand.copy_gib[jobs, None] * (phase == CHECKPOINT)
    return ResourceTrace(phase, np.minimum(wanted, cpus[:, None]), memory)


def usage(trace: ResourceTrace, cpus: Floats) -> ResourceUsage:
    """The usage of traces: mean, 95th percentile and peak; `cpus`: shape (n,), CPUs that each run requests."""
    busy = trace.cores / cpus[:, None]
    return ResourceUsage(
        cpu_mean=busy.mean(axis=1),
        cpu_p95=np.quantile(busy, 0.95, axis=1),
        memory_mean_gib=trace.memory_gib.mean(axis=1),
        memory_p95_gib=np.quantile(trace.memory_gib, 0.95, axis=1),
        memory_peak_gib=trace.memory_gib.max(axis=1),
    )


def peak_gib(demand: Demand, job: int, batch: Floats) -> Floats:
    """Peak memory of a job with other batch sizes, in doublings relative to today: shape (K,)."""
    fixed = demand.base_gib[job] + demand.data_gib[job] + demand.copy_gib[job]
    return np.asarray(fixed + demand.batch_gib[job] * np.exp2(batch))
