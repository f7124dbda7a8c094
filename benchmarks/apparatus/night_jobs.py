"""The jobs of nights.py: a table of kinds, each with its own trouble, and the jobs that are drawn of them.

Their truth is in night_truth.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from apparatus.night_truth import Job, Truth, best, results

BATCHES = tuple(8.0 * 2**n for n in range(9))
RATES = tuple(1e-3 * 2 ** (n / 2) for n in range(14))
GPUS, CPUS = (1.0, 2.0, 4.0, 8.0), (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
KNOBS = {"batch_size": BATCHES, "learning_rate": RATES, "gpus": GPUS, "cpus": CPUS}
COMMITTED = {"batch_size": 32.0, "learning_rate": 0.01, "epochs": 12.0, "gpus": 1.0, "cpus": 8.0}
OWN = {
    "dropout": '{ key = "model.dropout", min = 0.0, max = 0.5 }',
    "weight_decay": '{ min = 1e-6, max = 1e-1, scale = "log" }',
}
SETTLED_GPUS = 4.0

Around = Callable[..., float]
"""(middle, octaves): a number near the middle, which it is itself for the plain job of a kind."""


def plain(job: Job, _around: Around) -> Job:
    return job


def to_target(job: Job, around: Around) -> Job:
    """Of a fixed number of epochs the best has no end: a larger batch, a bit more loss."""
    return changed(job, {"epochs": 60.0}, to_target=True, critical_batch=around(500))


def rate_too_low(job: Job, around: Around) -> Job:
    return changed(to_target(job, around), {"learning_rate": round(rate_there(job) / 4, 5)})


def rate_too_low_fixed(job: Job, _around: Around) -> Job:
    return changed(job, {"learning_rate": round(rate_there(job) / 4, 5)})


def multi_gpu(job: Job, around: Around) -> Job:
    """Much to compute on one node of four; beyond it links are slow."""
    heavy = {"compute_seconds": around(2e-3, 0.4), "gradient_seconds": around(0.02), "across": around(6, 0.4)}
    return changed(to_target(job, around), {}, node_gpus=SETTLED_GPUS, **heavy)


def out_of_gpu_memory(job: Job, around: Around) -> Job:
    needed = around(1.6, 0.5)  # of the GPU's memory
    sample = (needed * job.truth.gpu_memory_gib - job.truth.model_gib) / 256
    return changed(job, {"batch_size": 256.0, "learning_rate": 0.02}, sample_gib=sample)


def memory_fivefold(job: Job, _around: Around) -> Job:
    need = job.truth.host_gib + job.truth.loader_gib * 8
    memory = tuple(float(m) for m in range(4, 129, 2))
    allowed = {"batch_size": BATCHES, "cpus": CPUS, "memory_gib": memory}
    cheap = replace(job, usd={"gpus": 0.6, "cpus": 0.04, "memory_gib": 0.005}, allowed=allowed)
    return changed(cheap, {"memory_gib": 5 * need, "batch_size": 128.0, "learning_rate": job.truth.best_rate})


def slow_links(job: Job, around: Around) -> Job:
    step = job.truth.overhead_seconds + 32 * job.truth.compute_seconds
    return changed(job, {}, gradient_seconds=around(2.5, 0.5) * step, node_gpus=1.0, across=around(2))


def rate_too_high(job: Job, around: Around) -> Job:
    return changed(job, {"learning_rate": round(around(5, 0.5) * rate_there(job), 4)})


def diverges(job: Job, around: Around) -> Job:
    return changed(job, {"learning_rate": round(around(13, 0.4) * rate_there(job), 4)})


def time_limit(job: Job, around: Around) -> Job:
    usual = float(results(job, {}).seconds[0])
    return changed(job, {}, limit_seconds=around(0.75, 0.3) * usual)


def noisy(job: Job, _around: Around) -> Job:
    return changed(job, {}, noise=0.15, loss_noise=0.04)


def slow_loader(job: Job, around: Around) -> Job:
    return changed(job, {"cpus": 2.0, "batch_size": 64.0}, loading_seconds=around(6e-3))


def own_parameters(job: Job, _around: Around) -> Job:
    return replace(changed(job, {"dropout": 0.1, "weight_decay": 1e-4}), own=OWN)


@dataclass(frozen=True)
class Kind:
    """A kind of jobs.

    Attributes:
        trouble: what makes a job one of this kind.
        settled: the committed values are the best.
        earlier: runs with them that are on record before the first night.
        gpus: as many the best takes; None: any number.
    """

    words: str
    trouble: Callable[[Job, Around], Job]
    settled: bool = False
    earlier: int = 0
    gpus: float | None = None


KINDS: Mapping[str, Kind] = {
    "fixed_epochs": Kind("fixed epochs, four knobs", plain),
    "to_target": Kind("to a target", to_target),
    "oom_at_start": Kind("out of GPU memory at the start", out_of_gpu_memory),
    "today_optimal": Kind("today's values are the best", to_target, settled=True),
    "memory_fivefold": Kind("memory asked for five-fold", memory_fivefold),
    "slow_links": Kind("slow links between GPUs", slow_links),
    "rate_too_high": Kind("rate far too high", rate_too_high),
    "rate_too_low": Kind("to a target, rate a quarter of the best", rate_too_low),
    "rate_too_low_fixed": Kind("fixed epochs, rate a quarter of the best", rate_too_low_fixed),
    "settled_multi_gpu": Kind("4 of 8 GPUs are the best, and today's", multi_gpu, settled=True, gpus=SETTLED_GPUS),
    "settled_long": Kind("the best for 20 nights", to_target, settled=True, earlier=20),
    "own_parameters": Kind("parameters of the team's own at their best", own_parameters),
    "diverges_at_start": Kind("diverges at the start", diverges),
    "time_limit": Kind("killed by its time limit at the start", time_limit),
    "noisy": Kind("noisy durations and losses", noisy),
    "slow_loader": Kind("slow data loader", slow_loader),
}


def job_of(name: str, seed: int) -> Job:
    """A job of a kind: seed 0 the plain one, others drawn around it; the kind's own trouble is kept."""
    kind, rng = KINDS[name], np.random.default_rng((seed, zlib.crc32(name.encode())))
    for _ in range(100):
        job = drawn(name, seed, rng)
        try:
            values, _ = best(job)
        except ValueError:
            continue
        if kind.gpus in (None, values.get("gpus")):
            return replace(job, values={**job.values, **values}, earlier=kind.earlier) if kind.settled else job
    raise ValueError(f"{name}: no job of seed {seed} has a configuration that ends well")


def drawn(name: str, seed: int, rng: np.random.Generator) -> Job:
    """A job of a kind, which may be one that never ends well."""

    def around(middle: float, octaves: float = 0.8) -> float:
        return float(middle * 2 ** (rng.uniform(-octaves, octaves) if seed else 0.0))

    truth = Truth(
        samples=around(400_000),
        overhead_seconds=around(0.02),
        compute_seconds=around(5e-4),
        loading_seconds=around(6e-4),
        gradient_seconds=around(0.01),
        critical_batch=around(1500),
        best_rate=around(0.02, 0.4),
        rate_power=0.5 if rng.random() < 0.5 or not seed else 1.0,
    )
    return KINDS[name].trouble(Job(name, seed, COMMITTED, KNOBS, truth), around)


def rate_there(job: Job) -> float:
    """The best rate of the committed batch."""
    return job.truth.best_rate * (COMMITTED["batch_size"] / job.truth.rate_at_batch) ** job.truth.rate_power


def changed(job: Job, values: Mapping[str, float], **truth: float) -> Job:
    return replace(job, values={**job.values, **values}, truth=replace(job.truth, **truth))  # type: ignore[arg-type]
