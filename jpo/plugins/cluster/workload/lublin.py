"""Jobs drawn at random, as users of a parallel machine send them: what tests and trials use where no log may go along.

Size, run time and arrivals follow the model of Lublin and Feitelson: a share of serial jobs, sizes log-uniform in two stages and
mostly powers of two, run times hyper-gamma in the logarithm with larger jobs longer, arrivals with a daily cycle. Requested times
are run times rounded up to what users write.

Source: Lublin, Feitelson, "The Workload on Parallel Supercomputers: Modeling the Characteristics of Rigid Jobs", JPDC 2003;
the parameters of batch jobs in table 5. Simplified: one job class, and a sinusoidal day in place of the fitted slots.
"""

from dataclasses import replace

import numpy as np

from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.workload.demand import DemandTable, one_core_each
from jpo.plugins.cluster.workload.jobs import JobTable, sorted_jobs

SERIAL, POWER_OF_TWO = 0.2927, 0.6686
"""Shares of jobs."""
LOW_LOG2, MIDDLE_BELOW, FIRST_STAGE = 1.2, 2.5, 0.705
"""Sizes: log2 from LOW to MIDDLE with the probability FIRST_STAGE, else to the largest; MIDDLE lies so far below that."""
SHORT, LONG = (6.57, 0.823), (639.1, 0.0156)
"""Shape and scale of the two gammas of ln(run seconds)."""
SLOPE, OFFSET = -0.0118, 0.9156
"""Chance of the short one: OFFSET + SLOPE x processors."""
DAY_SECONDS = 86_400.0
REQUESTS = np.array([60, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 64_800, 86_400, 172_800, 604_800.0])
LONGEST_SECONDS = REQUESTS[-1]
USERS = 40


def draw_jobs(count: int, processors: int, *, load: float, seed: int) -> JobTable:
    """At least one job for a machine; none needs more processors than it has.

    `load`: processor seconds that they need / those that pass until the last comes; 0.9 fills queues.
    """
    rng = np.random.default_rng(seed)
    needed = _sizes(rng, count, processors)
    short = rng.random(count) < np.clip(OFFSET + SLOPE * needed, 0.05, 1.0)
    log_seconds = np.where(short, rng.gamma(*SHORT, count), rng.gamma(*LONG, count))
    run = np.clip(np.floor(np.exp(np.minimum(log_seconds, 20.0))), 1.0, LONGEST_SECONDS)
    asked = np.minimum(run * rng.uniform(1.0, 4.0, count), LONGEST_SECONDS)
    requested = REQUESTS[np.searchsorted(REQUESTS, asked)]
    span = float(run @ needed) / (processors * load)
    moments = np.sort(rng.random(count)) * span
    by_day = np.floor(moments - 0.8 * DAY_SECONDS / (2 * np.pi) * np.sin(2 * np.pi * moments / DAY_SECONDS))
    users = rng.zipf(1.7, count) % USERS
    return sorted_jobs(np.arange(1, count + 1), np.maximum(by_day, 0.0), run, requested, needed, users.astype(np.int64))


def draw_work(count: int, platform: Platform, *, load: float, seed: int) -> tuple[JobTable, DemandTable]:
    """Jobs of GPUs if a platform has some (load: at mean speed) with half of their share of cores, of classes they name."""
    nodes = [(one, kind) for _, one in platform.nodes for kind in one.processors if kind.kind == "gpu"]
    if not nodes:
        jobs = draw_jobs(count, platform.cores("cpu"), load=load, seed=seed)
        return jobs, one_core_each(jobs)
    speed = sum(kind.cores * kind.speed for _, kind in nodes) / platform.cores("gpu")
    jobs = draw_jobs(count, platform.cores("gpu"), load=load * speed, seed=seed)
    gpus = np.minimum(jobs.processors, min(kind.cores for _, kind in nodes))
    tasks, nothing = jobs.processors // gpus, np.zeros(count)
    beside = min(sum(kind.cores * (kind.kind == "cpu") for kind in one.processors) // (2 * gpu.cores) for one, gpu in nodes)
    named = sorted({name for _, kind in nodes for name in kind.speeds} or {""})
    classes = tuple(np.random.default_rng(seed).choice(named, count).tolist())
    demand = DemandTable(tasks, beside * gpus, gpus, nothing, nothing, ("",) * count, classes, nothing + np.inf)
    return replace(jobs, processors=tasks * gpus), demand


def _sizes(rng: np.random.Generator, count: int, processors: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    largest = np.log2(max(processors, 2))
    middle = max(largest - MIDDLE_BELOW, min(LOW_LOG2, largest))
    first = rng.random(count) < FIRST_STAGE
    log2 = np.where(first, rng.uniform(min(LOW_LOG2, largest), middle, count), rng.uniform(middle, largest, count))
    log2 = np.where(rng.random(count) < POWER_OF_TWO, np.round(log2), log2)
    sizes = np.where(rng.random(count) < SERIAL, 1.0, np.round(2.0**log2))
    return np.clip(sizes, 1, processors).astype(np.int64)
