"""Trials: durations and validation losses of full runs from the logs of small ones.

How step time scales with batch size, GPUs, CPUs and layers is an argument: scaling laws drawn from the simulator, one per
particle. The trials say which laws fit, and how fast everything is. Errors grow with the amount of work beyond the trials.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from jpo.forecast.discrepancy import TIME_TAU
from jpo.forecast.evidence.duration import NOISE
from jpo.forecast.evidence.plausibility import OUTCOME_LIMITS
from jpo.forecast.predict import NODES
from jpo.records import HALF_WIDTH, Floats, Interval, Parameters, same

PER_DOUBLING = 0.015
"""Additional error of ln time per doubling of the work from trials to a full run: caches, throttling, slow nodes."""
ONE_EPOCH, PRIOR_EPOCHS = 0.15, 2
"""Prior standard deviation of ln of one epoch's time, and the number of epochs that it counts for."""
WARM_UP, STALL = 1.3, 3.0
"""First epochs longer than WARM_UP medians belong to the start; no later one counts for more than STALL medians."""
EVALUATION, EVALUATION_SPREAD = 0.055, 1.0
"""Evaluation and saving relative to the training of a full epoch, and standard deviation of its ln: mostly 1 to 30%. Assumed."""
LEAST_SHARE, SHARE_ERROR = 0.005, 0.1
"""Where rows show it: the smallest share of an epoch that matters, and the standard deviation of its ln."""
NOT_CUT = 0.35
"""Share of jobs that evaluate on all validation data even in a trial on part of the data. Assumed; two trials would show it."""
START_ERROR = 0.5
"""Standard deviation of ln of the time outside the epochs. Assumed."""
KEPT = 500
"""Number of particles from which quantiles are taken."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The speed of a job as the log of a small run shows it.

    Attributes:
        parameters: those that the log names.
        fraction: share of the data it trained on, in (0, 1].
        epoch_seconds: of one epoch at a steady speed, evaluation included.
        error: standard deviation of its natural log.
        epochs: number of steady epochs on which that is based.
        around_seconds: time outside the epochs: start-up, slow first epochs, the end.
        samples: of one epoch; None: not in the log.
        evaluation: share of an epoch that is not training; None: the rows do not show it.
        losses: (epoch, validation loss), finite.
        memory_gib: peak of the training process.
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


@dataclass(frozen=True, slots=True)
class TrialLog:
    """The log of a small run.

    Attributes:
        parameters: those that the log names.
        rows: by column, as they were written: time, epoch, and samples and val_loss where measured.
        fraction: share of the data it trained on, in (0, 1].
        started_at, ended_at: unix seconds; None: not in the log.
        memory_gib, has_target: as in `Trial`.
    """

    run_id: str
    parameters: Parameters
    rows: Sequence[Parameters]
    fraction: float
    started_at: float | None
    ended_at: float | None
    memory_gib: float | None = None
    has_target: bool = False


def trial_of(log: TrialLog) -> Trial:
    """The trial of a log, whose speed does not depend on how it ended.

    Raises ValueError: fewer than two rows with time and epoch, rows that do not rise, or an impossible epoch time.
    """
    timed = [row for row in log.rows if {"time", "epoch"} <= row.keys() and math.isfinite(row["epoch"])]
    whole = {row["epoch"]: row for row in timed if row["epoch"].is_integer()}  # the last row of an epoch ends it
    marks = list(whole.values()) if len(whole) > 1 else list({row["epoch"]: row for row in timed}.values())
    if len(marks) < 2:
        raise ValueError("has fewer than two rows with a time and an epoch, so epochs cannot be separated from start-up")
    steps = [(b["time"] - a["time"], b["epoch"] - a["epoch"]) for a, b in pairwise(marks)]
    if not all(seconds > 0 and epochs > 0 for seconds, epochs in steps):
        raise ValueError("has rows whose time or epoch does not rise: its clock was changed, or it contains several runs")
    seconds, error, warm = steady([seconds / epochs for seconds, epochs in steps])
    shortest, longest = OUTCOME_LIMITS["duration_seconds"]
    if not shortest <= seconds <= longest:
        raise ValueError(f"has epochs of {seconds:g}s; its columns time or epoch contain something else")
    first, last = marks[0], marks[-1]
    before = max(0.0, first["time"] - log.started_at - seconds * first["epoch"]) if log.started_at is not None else 0.0
    after = max(0.0, log.ended_at - timed[-1]["time"]) if log.ended_at is not None else 0.0
    _, most = OUTCOME_LIMITS["samples"]
    counted = [row["samples"] / row["epoch"] for row in marks if 0 < row.get("samples", 0.0) < most and row["epoch"] > 0]
    samples = counted[-1] if counted else None
    return Trial(
        run_id=log.run_id,
        parameters=log.parameters,
        fraction=log.fraction,
        epoch_seconds=seconds,
        error=error,
        epochs=last["epoch"] - first["epoch"],
        around_seconds=before + warm + after,
        samples=samples,
        evaluation=evaluation_share(timed, seconds, samples),
        losses=tuple((row["epoch"], row["val_loss"]) for row in timed if math.isfinite(row.get("val_loss", math.nan))),
        memory_gib=log.memory_gib,
        has_target=log.has_target,
    )


def steady(epochs: Sequence[float]) -> tuple[float, float, float]:
    """The steady epoch time from seconds of each epoch, oldest first: mean, standard deviation of its ln, seconds to warm up."""
    middle = median(epochs)
    slow = next((i for i, seconds in enumerate(epochs) if seconds <= WARM_UP * middle), 0)
    even = [min(seconds, STALL * middle) for seconds in epochs[slow:]]
    mean = sum(even) / len(even)
    spread = PRIOR_EPOCHS * ONE_EPOCH**2 + sum(math.log(seconds / mean) ** 2 for seconds in even)
    return mean, math.sqrt(spread / (PRIOR_EPOCHS + len(even)) / len(even)), sum(epochs[:slow]) - slow * mean


def evaluation_share(rows: Sequence[Parameters], epoch_seconds: float, samples: float | None) -> float | None:
    """Share of an epoch that is not training; None unless some rows come in the middle of an epoch, before its evaluation."""
    training = [
        (b["time"] - a["time"], b["samples"] - a["samples"])
        for a, b in pairwise(rows)
        if "val_loss" not in b and not b["epoch"].is_integer() and {"samples"} <= a.keys() & b.keys()
    ]
    done = sum(count for _, count in training)
    if samples is None or done <= 0:
        return None
    return min(max(0.0, 1 - sum(seconds for seconds, _ in training) / done * samples / epoch_seconds), 0.9)


def full_runs(
    trials: Sequence[Trial], ran: Sequence[Parameters], asked: Sequence[Parameters], log_step: Floats, seed: int
) -> list[Interval]:
    """Durations in seconds of one full run of each configuration, all its epochs on all the data.

    Args:
        trials: at least one.
        ran, asked: configurations of the trials and those of the full runs; `asked` has epochs.
        log_step: scaling laws: ln of step times of simulated jobs, (J, trials + asked); only differences within a row count.
    """
    rng, jobs = np.random.default_rng((seed, 21)), len(log_step)
    whole = rng.random((jobs, 1)) < NOT_CUT
    partial = rng.random((jobs, 1))  # cost of a last, smaller step relative to a whole one
    share = EVALUATION * np.exp(EVALUATION_SPREAD * rng.standard_normal((jobs, 1)))
    counts = [trial.samples / trial.fraction for trial in trials if trial.samples]  # in the full data
    samples = float(median(counts)) if counts else None
    fractions = np.array([trial.fraction for trial in trials])
    step = np.exp(log_step[:, : len(trials)])
    training = _steps(ran, fractions, samples, partial) * step  # (J, trials)
    evaluation = share * _steps(ran, np.ones(len(trials)), samples, partial) * step * np.where(whole, 1.0, fractions)
    measured = np.log([trial.epoch_seconds for trial in trials]) - np.log(training + evaluation)
    errors = np.array([math.hypot(trial.error, NOISE) for trial in trials])
    level, weights, error = _fitted(measured, errors, _evaluation_mismatch(trials, evaluation / (training + evaluation)))

    kept = np.searchsorted(np.cumsum(weights), (np.arange(KEPT) + rng.random()) / KEPT).clip(max=jobs - 1)
    steps_of_full_run = _steps(asked, np.ones(len(asked)), samples, partial) * (1 + share)
    log_epoch = level[:, None] + np.log(steps_of_full_run) + log_step[:, len(trials) :]  # (J, asked)
    around = float(np.mean([trial.around_seconds for trial in trials])) * np.exp(START_ERROR * rng.standard_normal((KEPT, 1)))
    intervals = []
    for i, values in enumerate(asked):
        sigma = math.hypot(error, _beyond(trials, ran, values))
        seconds = around + values["epochs"] * np.exp(log_epoch[kept, i][:, None] + sigma * NODES)  # (particles, nodes)
        low, middle, high = np.quantile(seconds, (0.05, 0.5, 0.95))  # a few extreme particles hardly change the median
        intervals.append(Interval(float(middle), float(low), float(high)))
    return intervals


def _evaluation_mismatch(trials: Sequence[Trial], shares: Floats) -> Floats:
    """Squared errors of the laws (J, trials) against the evaluation shares of the trials, in standard deviations, shape (J,)."""
    missed = np.zeros(len(shares))
    for i, trial in enumerate(trials):
        if trial.evaluation is not None:
            missed += (np.log(np.maximum(shares[:, i], LEAST_SHARE) / max(trial.evaluation, LEAST_SHARE)) / SHARE_ERROR) ** 2
    return missed


def _fitted(measured: Floats, errors: Floats, mismatch: Floats) -> tuple[Floats, Floats, float]:
    """Laws fitted to the trials: level (J,) of each, weights (J,) that sum to 1, and the standard error of the level.

    Where not even the best law explains the trials, all errors are scaled up accordingly.
    """
    precision = errors**-2
    level = measured @ precision / precision.sum()
    squares = ((measured - level[:, None]) ** 2) @ precision + mismatch  # (J,)
    excess = max(1.0, float(squares.min()) / max(1, len(errors) - 1))
    weights = np.exp(-(squares - squares.min()) / (2 * excess))
    return level, weights / weights.sum(), math.sqrt(excess / float(precision.sum()))


def _steps(rows: Sequence[Parameters], fractions: Floats, samples: float | None, partial: Floats) -> Floats:
    """Steps of an epoch on part of the data, (J, rows), a last one that is not full in part; relative where `samples` is None."""
    exact = fractions * (samples or 1.0) / np.array([row.get("batch_size", 1.0) for row in rows])
    rest = np.ceil(exact - 1e-9) - exact if samples else np.zeros_like(exact)
    return np.asarray(exact + partial * rest)


def _beyond(trials: Sequence[Trial], ran: Sequence[Parameters], values: Parameters) -> float:
    """Standard deviation of ln time of a full run given the laws: one run's noise, work beyond trials, a new configuration."""
    doublings = max(0.0, math.log2(values["epochs"] / sum(trial.epochs * trial.fraction for trial in trials)))
    tried = any(same({**parameters, "epochs": values["epochs"]}, values) for parameters in ran)
    return math.hypot(NOISE, PER_DOUBLING * doublings, 0.0 if tried else TIME_TAU)


TOO_FEW_LOSSES, FARTHEST_LOSS, LOSS_NOISE = 8, 4.0, 0.05
"""A loss is extrapolated only from this many epochs, by at most this factor, and from a curve as smooth as this (ln)."""


def loss_after(losses: Sequence[tuple[float, float]], epochs: float) -> Interval | None:
    """The validation loss after all epochs, by a power law floor + scale x epochs^-power that is fitted to the measured losses.

    None for few or rough losses, for those that do not fall, and far beyond the last one.

    Source: Hestness et al., "Deep Learning Scaling is Predictable, Empirically", 2017.
    """
    if len(losses) < TOO_FEW_LOSSES or epochs > FARTHEST_LOSS * losses[-1][0] or min(loss for _, loss in losses) <= 0:
        return None
    epochs_seen, losses_seen = np.array(losses).T
    powers, floors = np.meshgrid(np.geomspace(0.1, 3, 30), np.linspace(0, 0.99, 34) * losses_seen.min())
    curve = epochs_seen ** -powers.ravel()[:, None]  # (grid, losses)
    scale = ((losses_seen - floors.ravel()[:, None]) * curve).sum(1) / (curve**2).sum(1)
    errors = np.log(np.maximum(floors.ravel()[:, None] + scale[:, None] * curve, 1e-12) / losses_seen)
    rough = math.sqrt(float((errors**2).mean(1).min()))
    if rough > LOSS_NOISE or (scale[(errors**2).sum(1).argmin()] <= 0):
        return None
    weights = np.exp(-((errors**2).sum(1) - (errors**2).sum(1).min()) / (2 * max(rough, 0.01) ** 2))
    final = np.log(np.maximum(floors.ravel() + scale * epochs ** -powers.ravel(), 1e-12))
    mean = float(weights @ final / weights.sum())
    deviation = math.sqrt(float(weights @ (final - mean) ** 2 / weights.sum()) + max(rough, 0.01) ** 2 + 0.02**2)
    reach = HALF_WIDTH * deviation
    return Interval(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))
