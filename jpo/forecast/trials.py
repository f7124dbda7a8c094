"""Small trials -> how long full runs would take: the speed that a log shows, and the step times that fit what all of them show.

How step time moves with batch size, GPUs, CPUs and layers is handed in as laws drawn from the simulator (one per particle); the
trials say which laws fit and how fast everything is. Errors grow with how far a full run lies beyond the trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist, median
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.discrepancy import TIME_TAU
from jpo.records import Interval, Parameters, same

if TYPE_CHECKING:
    from jpo.records import Floats


ONE_RUN = 0.07
"""Standard deviation of ln time between two runs of one configuration, as of other nodes and neighbours; the simulator's mean."""
PER_DOUBLING = 0.015
"""By so much more ln time may err with every doubling of the work from trials to a full run: caches, throttling, slow nodes."""
ONE_EPOCH, PRIOR_EPOCHS = 0.15, 2
"""Standard deviation of ln of one epoch's time before any was seen, and how many epochs that counts as much as."""
WARM_UP, STALL = 1.3, 3.0
"""First epochs longer than this many medians belong to the start; no later one counts more than so many medians."""
EVALUATION, EVALUATION_SPREAD = 0.055, 1.0
"""Evaluation and saving as a ratio to a full epoch's training, and standard deviation of its ln: mostly 1 to 30%. Assumed."""
LEAST_SHARE, SHARE_ERROR = 0.005, 0.1
"""Where rows tell it: the smallest share of an epoch that matters, and the standard deviation of its ln."""
NOT_CUT = 0.35
"""Share of jobs whose evaluation uses all validation data even in a trial on part of the data. Assumed; two trials on different
parts tell it."""
SHORTEST_EPOCH, LONGEST_EPOCH, MOST_SAMPLES = 1e-6, 1e8, 1e15
"""In seconds, and samples of all epochs together: what lies beyond was not measured."""
START_ERROR = 0.5
"""Standard deviation of ln of what a run takes beside its epochs. Assumed."""
KEPT = 500
"""Particles that quantiles are taken from."""
_NODES = np.array([NormalDist().inv_cdf((i + 0.5) / 9) for i in range(9)])
"""The middle of nine equally likely parts of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What the log of a small run tells of the job's speed.

    Attributes:
        parameters: those that the log names.
        fraction: share of the data it trained on, in (0, 1].
        epoch_seconds: of one epoch once it runs evenly, evaluation included.
        error: standard deviation of its natural log.
        epochs: how many even epochs that rests on.
        around_seconds: what a run takes beside its epochs: start-up, slow first epochs, the end.
        samples: of one epoch; None: the log does not say.
        evaluation: share of an epoch that is no training; None: rows do not tell.
        losses: (epoch, validation loss), finite.
        memory_gib: peak of the trainer.
        has_target: the job may stop before its last epoch.
    """

    run_id: str
    parameters: Parameters
    fraction: float
    epoch_seconds: float
    error: float
    epochs: float
    around_seconds: float
    samples: float | None = None
    evaluation: float | None = None
    losses: tuple[tuple[float, float], ...] = ()
    memory_gib: float | None = None
    has_target: bool = False


def trial_of(
    run_id: str,
    parameters: Parameters,
    rows: Sequence[Parameters],
    *,
    fraction: float,
    started_at: float | None,
    ended_at: float | None,
    memory_gib: float | None = None,
    has_target: bool = False,
) -> Trial:
    """The trial that a log's rows tell of; how it ended does not matter for its speed.

    Args:
        rows: by column, as they were written: time, epoch, and samples and val_loss where measured.

    Raises:
        ValueError: fewer than two rows with time and epoch, those that do not rise, or epochs that no job has.
    """
    timed = [row for row in rows if {"time", "epoch"} <= row.keys() and math.isfinite(row["epoch"])]
    whole = {row["epoch"]: row for row in timed if row["epoch"].is_integer()}  # the last row of an epoch ends it
    marks = list(whole.values()) if len(whole) > 1 else list({row["epoch"]: row for row in timed}.values())
    if len(marks) < 2:
        raise ValueError("has fewer than two rows with a time and an epoch, so that nothing tells epochs from start-up")
    steps = [(b["time"] - a["time"], b["epoch"] - a["epoch"]) for a, b in pairwise(marks)]
    if not all(seconds > 0 and epochs > 0 for seconds, epochs in steps):
        raise ValueError("has rows whose time or epoch does not rise: its clock was set, or it is of several runs")
    seconds, error, warm = steady([seconds / epochs for seconds, epochs in steps])
    if not SHORTEST_EPOCH <= seconds <= LONGEST_EPOCH:
        raise ValueError(f"has epochs of {seconds:g} s; its times or its epochs are something else")
    first, last = marks[0], marks[-1]
    before = max(0.0, first["time"] - started_at - seconds * first["epoch"]) if started_at is not None else 0.0
    after = max(0.0, ended_at - timed[-1]["time"]) if ended_at is not None else 0.0
    counted = [row["samples"] / row["epoch"] for row in marks if 0 < row.get("samples", 0.0) < MOST_SAMPLES and row["epoch"] > 0]
    samples = counted[-1] if counted else None
    return Trial(
        run_id=run_id,
        parameters=parameters,
        fraction=fraction,
        epoch_seconds=seconds,
        error=error,
        epochs=last["epoch"] - first["epoch"],
        around_seconds=before + warm + after,
        samples=samples,
        evaluation=evaluation_share(timed, seconds, samples),
        losses=tuple((row["epoch"], row["val_loss"]) for row in timed if math.isfinite(row.get("val_loss", math.nan))),
        memory_gib=memory_gib,
        has_target=has_target,
    )


def steady(epochs: Sequence[float]) -> tuple[float, float, float]:
    """From seconds of each epoch, oldest first: mean of the even ones, standard deviation of its ln, seconds lost warming up."""
    middle = median(epochs)
    slow = next((i for i, seconds in enumerate(epochs) if seconds <= WARM_UP * middle), 0)
    even = [min(seconds, STALL * middle) for seconds in epochs[slow:]]
    mean = sum(even) / len(even)
    spread = PRIOR_EPOCHS * ONE_EPOCH**2 + sum(math.log(seconds / mean) ** 2 for seconds in even)
    return mean, math.sqrt(spread / (PRIOR_EPOCHS + len(even)) / len(even)), sum(epochs[:slow]) - slow * mean


def evaluation_share(rows: Sequence[Parameters], epoch_seconds: float, samples: float | None) -> float | None:
    """Share of an epoch that is no training: told where some rows come in the midst of an epoch, before its evaluation."""
    training = [
        (b["time"] - a["time"], b["samples"] - a["samples"])
        for a, b in pairwise(rows)
        if "val_loss" not in b and not b["epoch"].is_integer() and {"samples"} <= a.keys() & b.keys()
    ]
    done = sum(count for _, count in training)
    if samples is None or done <= 0:
        return None
    return min(max(0.0, 1 - sum(seconds for seconds, _ in training) / done * samples / epoch_seconds), 0.9)


@dataclass(frozen=True, eq=False, slots=True)
class Laws:
    """Step times of simulated jobs, shape (J, trials + asked): natural logs, of which only differences in a row mean anything."""

    log_step: Floats
    seed: int


def full_runs(trials: Sequence[Trial], ran: Sequence[Parameters], asked: Sequence[Parameters], laws: Laws) -> list[Interval]:
    """Seconds of one full run of each configuration, all its epochs on all the data.

    Args:
        trials: at least one.
        ran, asked: configurations of the trials and those that are asked for, the columns of `laws`; `asked` names epochs.
    """
    rng = np.random.default_rng((laws.seed, 21))
    jobs = len(laws.log_step)
    whole = rng.random((jobs, 1)) < NOT_CUT
    partial = rng.random((jobs, 1))  # how much a last, smaller step costs of a whole one
    share = EVALUATION * np.exp(EVALUATION_SPREAD * rng.standard_normal((jobs, 1)))
    samples, fractions = _samples(trials), np.array([one.fraction for one in trials])
    step = np.exp(laws.log_step[:, : len(trials)])
    training = _steps(ran, fractions, samples, partial) * step  # (J, trials)
    evaluation = share * _steps(ran, np.ones(len(trials)), samples, partial) * step * np.where(whole, 1.0, fractions)
    measured = np.log([one.epoch_seconds for one in trials]) - np.log(training + evaluation)
    errors = np.array([math.hypot(one.error, ONE_RUN) for one in trials])
    level, weights, error = _fitted(measured, errors, _contradicted(trials, evaluation / (training + evaluation)))

    kept = np.searchsorted(np.cumsum(weights), (np.arange(KEPT) + rng.random()) / KEPT).clip(max=jobs - 1)
    ahead = _steps(asked, np.ones(len(asked)), samples, partial) * (1 + share)
    log_epoch = level[:, None] + np.log(ahead) + laws.log_step[:, len(trials) :]  # (J, asked)
    around = float(np.mean([one.around_seconds for one in trials])) * np.exp(START_ERROR * rng.standard_normal((KEPT, 1)))
    return [
        _one_run(log_epoch[kept, i][:, None], values["epochs"], around, math.hypot(error, _beyond(trials, ran, values)))
        for i, values in enumerate(asked)
    ]


def _one_run(log_epoch: Floats, epochs: float, around: Floats, sigma: float) -> Interval:
    """Quantiles over particles and noise; the middle one is the median, which a few extreme particles do not move."""
    seconds = around + epochs * np.exp(log_epoch + sigma * _NODES)  # (particles, nodes)
    low, middle, high = np.quantile(seconds, (0.05, 0.5, 0.95))
    return Interval(float(middle), float(low), float(high))


def _contradicted(trials: Sequence[Trial], shares: Floats) -> Floats:
    """By how much laws (J, trials) miss the shares of evaluation that trials tell, as squared standard deviations, shape (J,)."""
    missed = np.zeros(len(shares))
    for i, one in enumerate(trials):
        if one.evaluation is not None:
            missed += (np.log(np.maximum(shares[:, i], LEAST_SHARE) / max(one.evaluation, LEAST_SHARE)) / SHARE_ERROR) ** 2
    return missed


def _fitted(measured: Floats, errors: Floats, contradicted: Floats) -> tuple[Floats, Floats, float]:
    """(level (J,), weights (J,) that sum to 1, error of the level): how fast each law's job must be, and how well it fits.

    Where not even the best law explains the trials, all errors are as much larger.
    """
    precision = errors**-2
    level = measured @ precision / precision.sum()
    discrepancy = ((measured - level[:, None]) ** 2) @ precision + contradicted  # (J,)
    excess = max(1.0, float(discrepancy.min()) / max(1, len(errors) - 1))
    weights = np.exp(-(discrepancy - discrepancy.min()) / (2 * excess))
    return level, weights / weights.sum(), math.sqrt(excess / float(precision.sum()))


def _steps(rows: Sequence[Parameters], fractions: Floats, samples: float | None, partial: Floats) -> Floats:
    """Steps of an epoch on part of the data, shape (J, rows); a last step that is not full counts in part. Of unknown data they
    are relative."""
    exact = fractions * (samples or 1.0) / np.array([row.get("batch_size", 1.0) for row in rows])
    rest = np.ceil(exact - 1e-9) - exact if samples else np.zeros_like(exact)
    return np.asarray(exact + partial * rest)


def _samples(trials: Sequence[Trial]) -> float | None:
    """Training samples of the full data."""
    counts = [one.samples / one.fraction for one in trials if one.samples]
    return float(median(counts)) if counts else None


def _beyond(trials: Sequence[Trial], ran: Sequence[Parameters], values: Parameters) -> float:
    """Standard deviation of ln time of a full run beside what the trials say: the run's own luck, how much more work it is than
    all trials together, and what no law knows of a configuration that was not tried."""
    doublings = max(0.0, math.log2(values["epochs"] / sum(one.epochs * one.fraction for one in trials)))
    tried = any(same({**its, "epochs": values["epochs"]}, values) for its in ran)
    return math.hypot(ONE_RUN, PER_DOUBLING * doublings, 0.0 if tried else TIME_TAU)
