"""What is expected of configurations, by what there is to rest on: finished runs, small trials, similar workloads, arithmetic.

The one that counts comes first and says what it is; nothing is expected where nothing supports a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from jpo.cost import Prices, usd_per_hour
from jpo.errors import UsageError
from jpo.forecast.loss_curve import loss_after
from jpo.forecast.similar import by_arithmetic, from_similar
from jpo.forecast.trials import Laws, Trial, full_runs, trial_of
from jpo.outlook import Outlook
from jpo.records import PARAMETERS, Candidates, Forecast, Identity, Interval, Run, same
from jpo.report.prediction import Expected, Kind
from jpo.simulate import Hyper
from jpo.simulate.knobs import knobs_of
from jpo.simulate.speed import step_time
from jpo.telemetry.csvlog import whole_lines
from jpo.telemetry.loglines import Log

Values = Mapping[str, float]

LAWS = 2000
"""Laws of step time that the trials are held against; 8,000 gave the same errors and coverage (benchmarks/trials.py)."""
MEMORY_ERROR = 0.15
"""By so much, as a ratio, memory may differ between two runs of one configuration on all the data. Assumed."""
BYTES_PER_GIB = 2.0**30
SMALLEST_SHARE = 1e-4
"""Of the data: less than that is no trial."""
NOTHING = (
    "nothing: there is no finished run, no trial, no similar workload that compares; and arithmetic needs epochs, and a model, a "
    "data set and [prices] gpu_type whose names are known"
)


@dataclass(frozen=True, eq=False, slots=True)
class Grounds:
    """What expectations can rest on.

    Attributes:
        ahead: the outlook, from this workload's finished runs where there are any.
        others: runs of other workloads.
        gpu_type: which GPUs they are, where the user has said so.
    """

    identity: Identity
    ahead: Outlook
    trials: Sequence[Trial]
    others: Sequence[Run]
    gpu_type: str | None
    seed: int


def expectations(asked: Sequence[Values], grounds: Grounds) -> list[list[Expected]]:
    """For each configuration what is expected of it, what counts first; at least one, which may be "unknown"."""
    history = [_history(values, grounds) for values in asked]
    trials = _by_trials(asked, grounds) if grounds.trials else [None] * len(asked)
    return [
        _ordered(past, small, grounds) or [_guessed(values, grounds)]
        for values, past, small in zip(asked, history, trials, strict=True)
    ]


def _history(values: Values, grounds: Grounds) -> Expected | None:
    """By the belief after this workload's runs; None before the first that ended well."""
    forecast = grounds.ahead.forecast(grounds.ahead.row(values))
    if forecast.duration_seconds is None:
        return None
    well = sum(run.ended_well for run in grounds.ahead.runs)
    return Expected("history", f"the history: {well} finished run{'' if well == 1 else 's'} that ended well", forecast)


def _ordered(past: Expected | None, small: Expected | None, grounds: Grounds) -> list[Expected]:
    """History and trials, the narrower interval first: both hold what they say. Trials know of no target that a run stops at, so
    the history counts where its runs had one; and what trials do not tell is the history's word."""
    if past is None or small is None:
        return [one for one in (past, small) if one]
    merged = {name: value for name, value in _known(past.forecast).items() if name not in _known(small.forecast)}
    small = replace(small, forecast=replace(small.forecast, **merged))
    has_target = any(run.outcome.converged is not None for run in grounds.ahead.runs)
    return [past, small] if has_target or _width(past) <= _width(small) else [small, past]


def disagree(found: Sequence[Expected]) -> bool:
    """Whether two expectations of one configuration exclude each other."""
    spans = [one.forecast.duration_seconds for one in found if one.forecast.duration_seconds]
    return len(spans) > 1 and (spans[0].high < spans[1].low or spans[1].high < spans[0].low)


def _known(forecast: Forecast) -> dict[str, Interval]:
    return {name: value for name in Forecast.__dataclass_fields__ if (value := getattr(forecast, name)) is not None}


def _width(one: Expected) -> float:
    """Of the interval of the duration, in natural logs."""
    seconds = one.forecast.duration_seconds
    return math.log(seconds.high / seconds.low) if seconds and seconds.low > 0 else math.inf


def _by_trials(asked: Sequence[Values], grounds: Grounds) -> list[Expected | None]:
    """By the trials' speeds, carried over to each configuration and to all epochs on all the data."""
    trials, candidates = grounds.trials, grounds.ahead.candidates
    today = candidates.parameters(candidates.current)
    ran = [{**today, **one.parameters} for one in trials]
    names = ", ".join(one.run_id for one in trials[:4]) + (f" and {len(trials) - 4} more" if len(trials) > 4 else "")
    shares = ", ".join(dict.fromkeys(f"{100 * one.fraction:g} %" for one in trials))
    words = f"{len(trials)} trial{'' if len(trials) == 1 else 's'} on {shares} of the data: {names}"
    return [
        Expected("trials", words, _full_run(values, seconds, ran, grounds))
        for values, seconds in zip(asked, seconds_by_trials(trials, ran, asked, grounds.seed), strict=True)
    ]


def seconds_by_trials(trials: Sequence[Trial], ran: Sequence[Values], asked: Sequence[Values], seed: int) -> list[Interval]:
    """Seconds of one full run of each configuration, by laws of step time that fit the trials; see `full_runs`."""
    return full_runs(trials, ran, asked, Laws(_step_times([*ran, *asked], seed), seed))


def _step_times(rows: Sequence[Values], seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """ln of step times by laws drawn from the simulator, shape (LAWS, rows)."""
    names = tuple(name for name in PARAMETERS if all(name in row for row in rows))
    values = np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(len(rows), len(names))
    everything = Candidates(names, values, 0, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))
    return np.broadcast_to(step_time(knobs_of(everything), Hyper(LAWS, seed)).log_step, (LAWS, len(rows)))


def _full_run(values: Values, seconds: Interval, ran: Sequence[Values], grounds: Grounds) -> Forecast:
    """What a trial of this very configuration tells beside its speed: loss and memory, if it saw all the data."""
    trials = grounds.trials
    samples = next((one.samples / one.fraction for one in trials if one.samples), None)
    work = None if samples is None else samples * values["epochs"]
    alike = [one for one, its in zip(trials, ran, strict=True) if one.fraction == 1 and _same_but_epochs(its, values)]
    memory = max((one.memory_gib for one in alike if one.memory_gib is not None), default=None)
    losses = [found for one in alike if (found := loss_after(one.losses, values["epochs"]))]
    return Forecast(
        duration_seconds=seconds,
        cost_usd=cost(seconds, values, grounds.ahead.prices),
        val_loss=min(losses, key=lambda one: one.high / one.low) if losses else None,
        throughput_samples_per_second=Interval(work / seconds.mean, work / seconds.high, work / seconds.low) if work else None,
        memory_gib=Interval(memory, memory / (1 + MEMORY_ERROR), memory * (1 + MEMORY_ERROR)) if memory else None,
    )


def _same_but_epochs(some: Values, other: Values) -> bool:
    return same(*({name: value for name, value in one.items() if name != "epochs"} for one in (some, other)))


def cost(seconds: Interval | None, values: Values, prices: Prices) -> Interval | None:
    """What such a run costs; None without its time or a price."""
    rate = usd_per_hour(values, prices)
    if rate is None or seconds is None:
        return None
    return Interval(*(one * rate / 3600 for one in (seconds.mean, seconds.low, seconds.high)))


def _guessed(values: Values, grounds: Grounds) -> Expected:
    """From other workloads, else by arithmetic, else unknown and why."""
    kind: Kind = "similar workloads"
    guess = from_similar(grounds.identity, values, grounds.others)
    if guess is None:
        kind, guess = "heuristic", by_arithmetic(grounds.identity, values, grounds.gpu_type)
    if guess is None:
        return Expected("unknown", NOTHING, Forecast())
    return Expected(kind, guess.words, Forecast(guess.seconds, cost(guess.seconds, values, grounds.ahead.prices)))


def read_trials(paths: Sequence[Path], identity: Identity, fraction: float | None) -> tuple[Trial, ...]:
    """The trials in CSV logs, which need not have ended, or ended well, to tell how fast they were.

    Args:
        identity: the workload in config.ini.
        fraction: share of the data of those logs that do not say it themselves (`# data_fraction=0.1`); None: all.

    Raises:
        UsageError: JPO-E821 a trial of another workload, JPO-E822 too few rows, JPO-E823 a share or a parameter that cannot be.
        TelemetryError: a log that is empty or cannot be read.
    """
    found = [_trial(path, identity, fraction) for path in paths]
    return tuple({one.run_id: one for one in found}.values())  # one that is named twice is no second one


def _trial(path: Path, identity: Identity, fraction: float | None) -> Trial:
    log = Log(path)
    rows = [row for line in whole_lines(path) if (row := log.take(line))]
    if log.identity != identity:
        finding = f"is a trial of {log.identity}, but config.ini describes {identity}"
        raise UsageError(str(path), finding, "name trials of the same workload", code="JPO-E821")
    share = log.number("data_fraction") or fraction or 1.0
    if not SMALLEST_SHARE <= share <= 1:
        finding = f"data_fraction = {share:g} is not a share of the data"
        raise UsageError(str(path), finding, "write e.g. 0.1", code="JPO-E823")
    memory = _finite(log, "memory_bytes")
    try:
        return trial_of(
            log.run_id,
            _parameters(log),
            rows,
            fraction=share,
            started_at=_finite(log, "start"),
            ended_at=_finite(log, "end"),
            memory_gib=memory / BYTES_PER_GIB if memory and memory > 0 else None,
            has_target="converged" in log.head,
        )
    except ValueError as error:
        raise UsageError(str(path), str(error), "let the trial run for three epochs or more", code="JPO-E822") from error


def _finite(log: Log, key: str) -> float | None:
    """The number of a `# key=` line; None where it is absent or no number that can be measured."""
    value = log.number(key)
    return value if value is not None and math.isfinite(value) else None


def _parameters(log: Log) -> dict[str, float]:
    """The parameters that a log names."""
    found = {}
    for name in PARAMETERS:
        value = log.number(name)
        if value is not None and not (math.isfinite(value) and (value > 0 or (value == 0 and name == "gpus"))):
            finding = f"{name} = {value:g} is no value of a training job"
            raise UsageError(str(log.path), finding, "correct the script that writes the log", code="JPO-E823")
        if value is not None:
            found[name] = value
    return found
