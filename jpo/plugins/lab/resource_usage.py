"""Demand of a run for CPUs and host memory over time: it loads, then per epoch trains, validates and writes a checkpoint.

Drawn independently of speed and loss. A run whose memory peak is above its request is killed, as by a limit of Kubernetes.
"""

from dataclasses import dataclass

import numpy as np

from jpo.records import Floats, Ints

LOAD, TRAIN, VALIDATE, CHECKPOINT = range(4)
PHASES = ("load", "train", "validate", "checkpoint")
POINTS = 240
"""Points of the time grid: a phase of half a percent of the run still gets one."""
_JITTER = 0.08
"""Standard deviation of the natural log of the busy CPUs from point to point (assumed)."""


@dataclass(frozen=True, eq=False, slots=True)
class Demand:
    """The demand of a job. Shares are of the run's time; cores and GiB at today's configuration.

    Attributes:
        load: share of the run before the first epoch.
        validate, checkpoint: shares of each epoch.
        epochs: number of epochs with phases of their own.
        cores: shape (4,), CPUs kept busy in each of PHASES.
        base_gib: framework and model. data_gib: filled by loading. batch_gib: batches in flight, grows with the batch size.
        copy_gib: the copy of the weights while a checkpoint is written.
    """

    load: float
    validate: float
    checkpoint: float
    epochs: int
    cores: Floats
    base_gib: float
    data_gib: float
    batch_gib: float
    copy_gib: float


@dataclass(frozen=True, eq=False, slots=True)
class ResourceTrace:
    """Trace of a run on a time grid of T points from start to end: phase (index of PHASES), busy CPUs, memory, all (T,)."""

    phase: Ints
    cores: Floats
    memory_gib: Floats


WAITS_FOR_STORAGE = 0.15
"""Share of jobs whose loaders wait for storage while their CPUs idle. Assumed."""


def draw_demand(cpus: float, memory_gib: float, rng: np.random.Generator, loader_share: "Floats | None" = None) -> Demand:
    """The random demand of a job, given what it requests today; today's peak fits in 99 of 100 jobs.

    Assumed ranges: loading U(.01, .12) of the run, validation U(.04, .2) and checkpoint U(.005, .04) of an epoch; training keeps
    LU(.05, 1.2) of the requested CPUs busy (above 1: they are the bottleneck), and at least its loaders', which wait for storage
    in 15% of jobs; loading 1 to 2 times and validation half as many; a checkpoint one.
    Memory peak LU(.08, 1.01) of the request: people ask for far more than they use.

    `cpus`, `memory_gib`: today's requests. `loader_share`: as in Draws, shape (1,): share of a step during which the CPUs load
    data, NaN where they compute.

    Source: phases of a training run: Mohan et al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021 (loading),
    and "CheckFreq", FAST 2021 (checkpoints); requests against use: Rzadca et al., "Autopilot", EuroSys 2020.
    """
    train = cpus * float(np.exp(rng.uniform(np.log(0.05), np.log(1.2))))
    if loader_share is not None and rng.random() >= WAITS_FOR_STORAGE:
        train = max(train, float(np.nan_to_num(loader_share[0])) * cpus)
    loads = train * rng.uniform(1.0, 2.0)
    parts = rng.dirichlet((3.0, 4.0, 2.0, 1.0))
    base, data, batch, copy = (parts * (memory_gib * np.exp(rng.uniform(np.log(0.08), np.log(1.01))))).tolist()
    return Demand(
        load=rng.uniform(0.01, 0.12),
        validate=rng.uniform(0.04, 0.2),
        checkpoint=rng.uniform(0.005, 0.04),
        epochs=int(rng.integers(2, 11)),
        cores=np.array((loads, train, train * 0.5, 1.0)),
        base_gib=base,
        data_gib=data,
        batch_gib=batch,
        copy_gib=copy,
    )


def trace(demand: Demand, cpus: float, log_pace: float, batch: float, rng: np.random.Generator) -> ResourceTrace:
    """Trace of CPUs and memory over a run.

    While it trains or validates, a job needs CPUs in proportion to its pace (samples per second), and never has more than were
    requested. Loading takes what is free. Memory: base, data that fill up while loading, batches, a copy at each checkpoint.
    `log_pace`, `batch`: relative to today ln of its pace, doublings of its batch.
    """
    time, load = (np.arange(POINTS) + 0.5) / POINTS, demand.load
    within = np.clip((time - load) / (1 - load), 0.0, None) * demand.epochs % 1.0  # position in the epoch, (T,)
    ends = 1 - demand.checkpoint
    phase = np.select([time < load, within >= ends, within >= ends - demand.validate], [LOAD, CHECKPOINT, VALIDATE], TRAIN)
    phase[-1] = CHECKPOINT  # every run ends with one, on any grid

    pace = np.where((phase == TRAIN) | (phase == VALIDATE), np.exp(log_pace), 1.0)
    wanted = demand.cores[phase] * pace * np.exp(_JITTER * rng.standard_normal(POINTS))
    filled = np.minimum(time / load, 1.0) * demand.data_gib
    batches = demand.batch_gib * np.exp2(batch) * (phase != LOAD)
    memory = demand.base_gib + filled + batches + demand.copy_gib * (phase == CHECKPOINT)
    return ResourceTrace(phase, np.minimum(wanted, cpus), memory)


def peak_gib(demand: Demand, batch: Floats) -> Floats:
    """Peak memory with other batch sizes, in doublings relative to today: shape (K,)."""
    fixed = demand.base_gib + demand.data_gib + demand.copy_gib
    return np.asarray(fixed + demand.batch_gib * np.exp2(batch))
