"""Jobs for nights.py: recurring training jobs with a known truth, by formulas of their own that JPO's simulator does not draw.

    step      = max(root of (overhead + B/g x compute)^2 + sync^2, B x loading / CPUs)
    sync      = 2 (g-1)/g x gradient + latency x log2 g, times `across` beyond one node; 0 with one GPU
    progress  = 1 / (1 + B/Bcrit) x exp(-(ln(rate / best rate of B))^2 / (2 width^2)), of one epoch
    loss      = floor x (1 + gap / sqrt(progress x epochs / usual epochs)), or the target, after as many epochs as it takes
    GPU memory = model + B/g x activations; host memory = base + loaders x CPUs

Sources: McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, eq. 2.11 (epochs that a batch costs); Patarasuk
and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009 (sync); Hoffmann et al., "Training Compute-Optimal Large
Language Models", 2022 (loss as a floor and a power of what was trained, here with the exponent .5).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Texts = NDArray[np.str_]

WELL, OOM, DIVERGED, TIMEOUT, MISSED = "succeeded", "oom_killed", "diverged", "failed", "target missed"
LOSS_KEPT = 1.02
"""The best configuration's loss is at most this much of the first configuration's."""


@dataclass(frozen=True)
class Truth:
    """What a job is like. Seconds are per step, per sample or per sample and CPU; memory in GiB."""

    samples: float = 400_000
    usual_epochs: float = 12
    to_target: bool = False
    overhead_seconds: float = 0.02
    compute_seconds: float = 5e-4
    loading_seconds: float = 6e-4
    gradient_seconds: float = 0.01
    latency_seconds: float = 0.002
    node_gpus: float = 4
    across: float = 3
    critical_batch: float = 1500
    best_rate: float = 0.02
    rate_at_batch: float = 128
    rate_power: float = 0.5
    rate_width: float = 1.1
    diverges_at: float = 8
    floor: float = 0.3
    gap: float = 0.15
    gpu_memory_gib: float = 40
    model_gib: float = 4
    sample_gib: float = 0.02
    host_gib: float = 8
    loader_gib: float = 1
    limit_seconds: float = np.inf
    noise: float = 0.03
    loss_noise: float = 0.005


@dataclass(frozen=True)
class Job:
    """A recurring job: what stands in config.ini when JPO comes, what may be changed, and the truth.

    Attributes:
        values: committed configuration by parameter name; `epochs` is the number of epochs, or the most with a target.
        allowed: values which jpo.toml allows, by name of a parameter that JPO may change.
        usd: price per hour of a GPU, a CPU and a GiB of memory.
    """

    kind: str
    seed: int
    values: Mapping[str, float]
    allowed: Mapping[str, tuple[float, ...]]
    truth: Truth
    usd: Mapping[str, float] = field(default_factory=lambda: {"gpus": 2.1, "cpus": 0.04, "memory_gib": 0.005})

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.seed}"


@dataclass(frozen=True, eq=False)
class Results:
    """What runs are expected to end with, without luck; shape (n,) each.

    Attributes:
        ends: WELL, OOM, DIVERGED, TIMEOUT or MISSED.
        reached: progress at the end in multiples of the usual epochs' at their best.
        usual_seconds: what a run that fails would have taken.
        loader_share: of a step during which the CPUs load data.
        loss: validation loss, of a run that fails what it would have been with enough memory, time and a lower rate.
        objective: root of seconds x USD, the balanced preference.
    """

    ends: Texts
    seconds: Floats
    usd: Floats
    epochs: Floats
    loss: Floats
    host_gib: Floats
    reached: Floats
    usual_seconds: Floats
    loader_share: Floats

    @property
    def objective(self) -> Floats:
        return np.sqrt(self.seconds * self.usd)


def results(job: Job, values: Mapping[str, Floats]) -> Results:
    """What runs of these configurations come to; `values` may leave out what stays as committed."""
    truth = job.truth
    columns = np.broadcast_arrays(*({**{name: np.array([x]) for name, x in job.values.items()}, **values}).values())
    at = dict(zip({**job.values, **values}, columns, strict=True))
    batch, rate, gpus, cpus = at["batch_size"], at["learning_rate"], np.maximum(at["gpus"], 1), at["cpus"]
    off = np.log(rate / (truth.best_rate * (batch / truth.rate_at_batch) ** truth.rate_power))
    progress = np.exp(-((off / truth.rate_width) ** 2) / 2) / (1 + batch / truth.critical_batch)
    epochs = np.minimum(np.ceil(truth.usual_epochs / progress), at["epochs"]) if truth.to_target else at["epochs"]
    reached = epochs * progress / truth.usual_epochs
    loss = loss_after(truth, reached)
    seconds = 60 + epochs * truth.samples / batch * step_seconds(truth, batch, gpus, cpus)
    host = truth.host_gib + truth.loader_gib * cpus
    too_large = truth.model_gib + batch / gpus * truth.sample_gib > truth.gpu_memory_gib
    killed = host > at["memory_gib"] if "memory_gib" in at else np.zeros(len(batch), dtype=bool)
    ends, spent = np.full(len(batch), WELL, dtype="U16"), seconds
    for how, happens, lasts in (
        (MISSED, truth.to_target & (reached < 1 - 1e-9), seconds),
        (TIMEOUT, seconds > truth.limit_seconds, np.minimum(seconds, truth.limit_seconds)),
        (DIVERGED, off > np.log(truth.diverges_at), np.minimum(0.1 * seconds, truth.limit_seconds)),
        (OOM, killed, np.minimum(0.3 * seconds, truth.limit_seconds)),
        (OOM, too_large, np.full(len(batch), 45.0)),
    ):  # later ones come earlier in a run
        ends, spent = np.where(happens, how, ends), np.where(happens, lasts, spent)
    hourly = sum(job.usd[name] * at[name] for name in job.usd if name in at)
    share = batch * truth.loading_seconds / cpus / step_seconds(truth, batch, gpus, cpus)
    return Results(ends, spent, spent / 3600 * hourly, epochs, loss, host, reached, seconds, share)


def loss_after(truth: Truth, reached: Floats) -> Floats:
    """The loss after this share of the usual progress; a job with a target ends there."""
    return truth.floor * (1 + truth.gap / np.sqrt(np.minimum(reached, 1) if truth.to_target else reached))


def step_seconds(truth: Truth, batch: Floats, gpus: Floats, cpus: Floats) -> Floats:
    compute = truth.overhead_seconds + batch / gpus * truth.compute_seconds
    sync = 2 * (gpus - 1) / gpus * truth.gradient_seconds + truth.latency_seconds * np.log2(gpus)
    sync = sync * np.where(gpus > truth.node_gpus, truth.across, 1)
    return np.maximum(np.hypot(compute, sync), batch * truth.loading_seconds / cpus)


def first_loss(job: Job) -> float:
    """The loss that is to be kept: the first configuration's, at the best rate where its own diverges; with a target, that."""
    best_rate = job.truth.best_rate * (job.values["batch_size"] / job.truth.rate_at_batch) ** job.truth.rate_power
    rate = job.values["learning_rate"]
    if rate > job.truth.diverges_at * best_rate:
        rate = best_rate
    if job.truth.to_target:
        return job.truth.floor * (1 + job.truth.gap)
    return float(results(job, {"learning_rate": np.array([rate])}).loss[0])


def best(job: Job) -> tuple[dict[str, float], float]:
    """The best of all allowed configurations that keeps the loss, by trying each, and its objective.

    Raises:
        ValueError: none ends well.
    """
    grid = np.meshgrid(*(np.array(several, dtype=float) for several in job.allowed.values()), indexing="ij")
    columns = {name: values.ravel() for name, values in zip(job.allowed, grid, strict=True)}
    them = results(job, columns)
    good = (them.ends == WELL) & (them.loss <= LOSS_KEPT * first_loss(job))
    if not good.any():
        raise ValueError(f"{job.name}: no configuration ends well")
    row = int(np.argmin(np.where(good, them.objective, np.inf)))
    return {name: float(column[row]) for name, column in columns.items()}, float(them.objective[row])


BATCHES = tuple(8.0 * 2**n for n in range(9))
RATES = tuple(1e-3 * 2 ** (n / 2) for n in range(14))
GPUS, CPUS = (1.0, 2.0, 4.0, 8.0), (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
KNOBS = {"batch_size": BATCHES, "learning_rate": RATES, "gpus": GPUS, "cpus": CPUS}
COMMITTED = {"batch_size": 32.0, "learning_rate": 0.01, "epochs": 12.0, "gpus": 1.0, "cpus": 8.0}
KINDS = {
    "fixed_epochs": "fixed epochs, four knobs",
    "to_target": "to a target",
    "oom_at_start": "out of GPU memory at the start",
    "today_optimal": "today's values are the best",
    "memory_fivefold": "memory asked for five-fold",
    "slow_links": "slow links between GPUs",
    "rate_too_high": "rate far too high",
    "diverges_at_start": "diverges at the start",
    "time_limit": "killed by its time limit at the start",
    "noisy": "noisy durations and losses",
    "slow_loader": "slow data loader",
}
ISSUE = tuple(KINDS)[:6]
"""The kinds by which JPO is judged; the others say more."""


def job_of(kind: str, seed: int) -> Job:
    """A job of a kind: seed 0 the plain one, others drawn around it; the kind's own trouble is kept."""
    rng = np.random.default_rng((seed, zlib.crc32(kind.encode())))
    for _ in range(100):
        job = drawn(kind, seed, rng)
        try:
            values, _ = best(job)
        except ValueError:
            continue
        return replace(job, values={**job.values, **values}) if kind == "today_optimal" else job
    raise ValueError(f"{kind}: no job of seed {seed} has a configuration that ends well")


def drawn(kind: str, seed: int, rng: np.random.Generator) -> Job:
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
    job = Job(kind, seed, COMMITTED, KNOBS, truth)
    rate_there = truth.best_rate * (32 / truth.rate_at_batch) ** truth.rate_power
    if kind in ("to_target", "today_optimal"):  # of a fixed number of epochs the best has no end: a larger batch, a bit more loss
        return changed(job, {"epochs": 60.0}, to_target=True, critical_batch=around(500))
    if kind == "oom_at_start":
        needed = around(1.6, 0.5)  # of the GPU's memory
        sample = (needed * truth.gpu_memory_gib - truth.model_gib) / 256
        return changed(job, {"batch_size": 256.0, "learning_rate": 0.02}, sample_gib=sample)
    if kind == "memory_fivefold":
        need = truth.host_gib + truth.loader_gib * 8
        job = replace(job, usd={"gpus": 0.6, "cpus": 0.04, "memory_gib": 0.005})
        memory = tuple(float(m) for m in range(4, 129, 2))
        job = replace(job, allowed={"batch_size": BATCHES, "cpus": CPUS, "memory_gib": memory})
        return changed(job, {"memory_gib": 5 * need, "batch_size": 128.0, "learning_rate": truth.best_rate})
    if kind == "slow_links":
        step = truth.overhead_seconds + 32 * truth.compute_seconds
        return changed(job, {}, gradient_seconds=around(2.5, 0.5) * step, node_gpus=1.0, across=around(2))
    if kind == "rate_too_high":
        return changed(job, {"learning_rate": round(around(5, 0.5) * rate_there, 4)})
    if kind == "diverges_at_start":
        return changed(job, {"learning_rate": round(around(13, 0.4) * rate_there, 4)})
    if kind == "time_limit":
        usual = float(results(job, {}).seconds[0])
        return changed(job, {}, limit_seconds=around(0.75, 0.3) * usual)
    if kind == "noisy":
        return changed(job, {}, noise=0.15, loss_noise=0.04)
    if kind == "slow_loader":
        return changed(job, {"cpus": 2.0, "batch_size": 64.0}, loading_seconds=around(6e-3))
    return job


def changed(job: Job, values: Mapping[str, float], **truth: float) -> Job:
    return replace(job, values={**job.values, **values}, truth=replace(job.truth, **truth))  # type: ignore[arg-type]
