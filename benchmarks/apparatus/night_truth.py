"""The truth of the jobs of nights.py: recurring training jobs, by formulas of their own that JPO's simulator does not draw.

    step      = max(root of (overhead + B/g x compute)^2 + sync^2, B x loading / CPUs)
    sync      = 2 (g-1)/g x gradient + latency x log2 g, times `across` beyond one node; 0 with one GPU
    progress  = 1 / (1 + B/Bcrit) x exp(-(ln(rate / best rate of B))^2 / (2 width^2)), of one epoch
    loss      = floor x (1 + gap / sqrt(progress x epochs / usual epochs)), or the target, after as many epochs as it takes;
                times 1 + .5 (dropout - .1)^2 + .004 (log10 weight decay + 4)^2 where the job has these, which cost nothing
    GPU memory = model + B/g x activations; host memory = base + loaders x CPUs

Sources: McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, eq. 2.11 (epochs that a batch costs); Patarasuk
and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009 (sync); Hoffmann et al., "Training Compute-Optimal Large
Language Models", 2022 (loss as a floor and a power of what was trained, here with the exponent .5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
        own: lines of [parameters] for the team's own parameters, by name; the committed values of these are the best.
        earlier: runs with the committed values that are on record before the first night.
    """

    kind: str
    seed: int
    values: Mapping[str, float]
    allowed: Mapping[str, tuple[float, ...]]
    truth: Truth
    usd: Mapping[str, float] = field(default_factory=lambda: {"gpus": 2.1, "cpus": 0.04, "memory_gib": 0.005})
    own: Mapping[str, str] = field(default_factory=dict)
    earlier: int = 0

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
    loss = loss_after(truth, reached) * own_factor(at)
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


def own_factor(at: Mapping[str, Floats]) -> Floats:
    """By what the loss is multiplied because of the team's own parameters: 1 at .1 of dropout and 1e-4 of weight decay."""
    dropout, decay = at.get("dropout", np.array(0.1)), at.get("weight_decay", np.array(1e-4))
    return np.asarray(1 + 0.5 * (dropout - 0.1) ** 2 + 0.004 * (np.log10(decay) + 4) ** 2)


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
